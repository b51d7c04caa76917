package status_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/status"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *time.Time {
	then := noon.Add(-d)
	return &then
}

func TestText(t *testing.T) {
	leader := status.Leader{Lease: "kube-system/orrery", Holder: "node-1_7f3a", Since: ago(26*time.Hour + 10*time.Minute), SilentSeconds: 1, Transitions: 3}
	self := leader
	self.Self = true
	for name, c := range map[string]struct {
		report status.Report
		want   string
	}{
		"leader": {
			status.Report{
				Replica: "127.0.0.1:8081", Server: "https://10.0.0.1:6443", Time: noon, Leader: self,
				Backlog: &status.Backlog{Waiting: 2, Active: 10, Planned: 3}, Selection: "team-*", PassedOver: 4,
				Namespaces: []status.Namespace{
					{Deletion: status.Deletion{Name: "shop",
						Why: "Some resources are remaining: pods. has 1 resource instances"}, Seconds: 843},
					{Deletion: status.Deletion{Name: "blue", Why: "no condition says why"}, Seconds: 7},
				},
			}, `
asked        the replica at 127.0.0.1:8081, a client of https://10.0.0.1:6443
leader       node-1_7f3a (this replica), for 1d2h; renewed 1s ago; Lease kube-system/orrery, 3 transitions
backlog      2 waiting, 10 in work, 3 planned
deletions    2 terminating namespaces
passed over  4 terminating namespaces, by --namespaces team-*

NAMESPACE  TERMINATING FOR  STATE
shop       14m              Some resources are remaining: pods. has 1 resource instances
blue       7s               no condition says why

What keeps them, and what to do: orrery why -A
`},
		"many": {
			status.Report{
				Replica: "127.0.0.1:8081", Server: "https://10.0.0.1:6443", Time: noon,
				Leader:  self,
				Backlog: &status.Backlog{Waiting: 1744, Active: 10},
				Namespaces: []status.Namespace{
					{
						Deletion: status.Deletion{Name: "a", Why: "no condition says why", Waits: true},
						Seconds:  130,
					},
					{Deletion: status.Deletion{Name: "b", Why: "pods remain", Waits: true}, Seconds: 60},
					{Deletion: status.Deletion{Name: "c", Why: "no condition says why"}, Seconds: 60},
				},
			}, `
asked      the replica at 127.0.0.1:8081, a client of https://10.0.0.1:6443
leader     node-1_7f3a (this replica), for 1d2h; renewed 1s ago; Lease kube-system/orrery, 3 transitions
backlog    1744 waiting, 10 in work, 0 planned
deletions  3 terminating namespaces

NAMESPACE  TERMINATING FOR  STATE
a          2m10s            waits for a worker
b          1m               waits for a worker; pods remain
and 1 more; --limit 0 shows all

What keeps them, and what to do: orrery why -A
`},
		"standby": {
			status.Report{Replica: "127.0.0.1:8082", Server: "https://10.0.0.1:6443", Time: noon,
				Leader: leader, Selection: "*", Stale: "its watch of namespaces has failed 2 times in a row: EOF"}, `
asked       the replica at 127.0.0.1:8082, a client of https://10.0.0.1:6443
may be old  its watch of namespaces has failed 2 times in a row: EOF
leader      node-1_7f3a, for 1d2h; renewed 1s ago; Lease kube-system/orrery, 3 transitions
backlog     unknown to a standby: ask the leader
deletions   0 terminating namespaces
`},
		"no election": {
			status.Report{Replica: "127.0.0.1:8082", Server: "https://10.0.0.1:6443", Time: noon,
				Backlog: &status.Backlog{}}, `
asked      the replica at 127.0.0.1:8082, a client of https://10.0.0.1:6443
leader     no election, this replica works alone
backlog    0 waiting, 0 in work, 0 planned
deletions  0 terminating namespaces
`},
		"cluster": {
			status.Report{Server: "https://10.0.0.1:6443", Time: noon,
				Leader: status.Leader{Missing: "there is no Lease kube-system/orrery"}}, `
asked      the cluster at https://10.0.0.1:6443
leader     none: there is no Lease kube-system/orrery
backlog    unknown to the cluster: ask the leader with --address
deletions  0 terminating namespaces
`},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			require.NoError(t, c.report.WriteText(&text, 2))
			assert.Equal(t, strings.TrimPrefix(c.want, "\n"), text.String())
		})
	}
}

// cluster is the API server in memory, with its requests.
type cluster struct {
	*clustertest.Cluster
	t        *testing.T
	requests []string
}

func onCluster(t *testing.T, act func(c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{t: t}
		c.Cluster = clustertest.Start(t, apiserver.Config{}, func(server http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.requests = append(c.requests, r.Method+" "+r.URL.Path)
				server.ServeHTTP(w, r)
			})
		})
		act(c)
	})
}

func (c *cluster) report() *status.Report {
	c.t.Helper()
	c.requests = nil
	report, err := status.FromCluster(c.t.Context(), c.Admin(), "kube-system", "orrery")
	require.NoError(c.t, err)
	return report
}

// The age of a deletion is no problem: "orrery why" may say that the namespace makes progress.
func TestTheClusterSaysWhatTerminates(t *testing.T) {
	onCluster(t, func(c *cluster) {
		for _, name := range []string{"active", "old", "older", "young"} {
			c.Must("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
		}
		c.Must("DELETE", "/api/v1/namespaces/older", "")
		time.Sleep(time.Second)
		c.Must("DELETE", "/api/v1/namespaces/old", "")
		c.Must("PATCH", "/api/v1/namespaces/old/status", `{"status":{"conditions":[
			{"type":"NamespaceContentRemaining","status":"True","reason":"SomeResourcesRemain","message":"pods remain"},
			{"type":"NamespaceDeletionDiscoveryFailure","status":"False","reason":"ResourcesDiscovered","message":"all well"},
			{"type":"NamespaceFinalizersRemaining","status":"True","reason":"SomeFinalizersRemain",
			 "message":"so do finalizers"}]}}`)
		c.Must("PUT", "/api/v1/namespaces/older/finalize",
			`{"metadata":{"name":"older"},"spec":{"finalizers":["kubernetes","example.com/hold"]}}`)
		time.Sleep(2 * time.Minute)
		c.Must("DELETE", "/api/v1/namespaces/young", "")
		time.Sleep(time.Second)

		report := c.report()
		const lease = "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/orrery"
		assert.Equal(t, []string{"GET /api/v1/namespaces", lease}, c.requests)
		var got []string
		for _, n := range report.Namespaces {
			got = append(got, fmt.Sprintf("%s %d %s", n.Name, n.Seconds, n.Why))
		}
		assert.Equal(t, []string{
			"older 122 the namespace itself has the finalizers example.com/hold",
			"old 121 pods remain; so do finalizers",
			"young 1 no condition says why",
		}, got)
		assert.Equal(t, []string{"no leader: there is no Lease kube-system/orrery"}, report.Problems)
		assert.Nil(t, report.Backlog)
	})
}

func TestTheClusterSaysWhoLeads(t *testing.T) {
	onCluster(t, func(c *cluster) {
		const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
		acquired, renewed := time.Now().Add(-time.Hour), time.Now()
		micro := func(moment time.Time) string { return moment.UTC().Format("2006-01-02T15:04:05.000000Z") }
		c.Must("POST", path, `{"metadata":{"name":"orrery"},
			"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"leaseTransitions":4,
			"acquireTime":"`+micro(acquired)+`","renewTime":"`+micro(renewed)+`"}}`)
		time.Sleep(10 * time.Second)
		report := c.report()
		assert.Empty(t, report.Problems)
		assert.True(t, report.Leader.Since.Equal(acquired.Truncate(time.Microsecond)))
		report.Leader.Since = nil
		assert.Equal(t, status.Leader{Lease: "kube-system/orrery", Holder: "a_1", SilentSeconds: 10, Transitions: 4}, report.Leader)

		time.Sleep(time.Minute)
		assert.Equal(t, []string{"no leader: a_1, the last holder of the Lease kube-system/orrery, has been silent for 1m10s"}, c.report().Problems)

		c.Must("PATCH", path+"/orrery", `{"spec":{"holderIdentity":null,"renewTime":"`+micro(time.Now())+`"}}`)
		time.Sleep(5 * time.Second)
		report = c.report()
		assert.Equal(t, []string{"no leader: the Lease kube-system/orrery was released 5s ago"}, report.Problems)
		assert.Nil(t, report.Leader.Since)
	})
}

// ask asks a replica that gives this answer.
func ask(t *testing.T, ctx context.Context, answer http.HandlerFunc) (*status.Report, error) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return status.FromReplica(ctx, server.Client(), strings.TrimPrefix(server.URL, "http://"))
}

func TestOtherProgramsAreRefused(t *testing.T) {
	const state = `"controller":{"namespace-controller":{}}`
	for want, answer := range map[string]string{
		"it answers /debug/orrery with 404 Not Found":           "",
		"it does not answer /debug/orrery as this version does": "<html>",
		"it does not run namespace-controller":                  `{"controller":{"vm":{}}}`,
		"its version does not report deletions":                 "{" + state + "}",
		"it has not synced yet":                                 "{" + state + `,"deletions":[]}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer == "" {
				http.NotFound(w, r)
			}
			_, _ = w.Write([]byte(answer))
		}))
		address := strings.TrimPrefix(server.URL, "http://")
		_, err := status.FromReplica(t.Context(), server.Client(), address)
		server.Close()
		assert.ErrorContains(t, err, "asking the replica at "+address+" failed: "+want)
		_, err = status.FromReplica(t.Context(), server.Client(), address)
		assert.EqualError(t, err, "asking the replica at "+address+" failed: nothing listens there")
	}
}

// Whatever listens on the port is not trusted with the reader's memory and time.
func TestAnAnswerIsReadUpToALimit(t *testing.T) {
	answering := func(size int, end func(r *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`{"deletions":["` + strings.Repeat("a", size)))
			w.(http.Flusher).Flush()
			end(r)
		}
	}
	_, err := ask(t, t.Context(), answering(33<<20, func(*http.Request) {}))
	assert.ErrorContains(t, err, "its answer is longer than 32 MiB")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = ask(t, ctx, answering(1, func(r *http.Request) { <-r.Context().Done() }))
	assert.ErrorContains(t, err, " does not ", "it does not answer, or its answer does not end")
}

// A process that is stopped still has its port.
func TestAReplicaThatDoesNotAnswer(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	_, err := ask(t, ctx, http.NotFound)
	assert.ErrorContains(t, err, "failed: it does not answer")
}

// Of a long list /debug/orrery shows the beginning, and how many elements it leaves out. A watch
// that fails is a problem.
func TestAReplicaWithALongQueueAndAWatchThatFails(t *testing.T) {
	report, err := ask(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"client":{"x":{"host":"https://h"}},"informer":{"namespaces":{"hasSynced":true,"reflector":{"failures":3,"lastError":"EOF"}}},"controllers":[{"name":"namespace-controller","state":"running"},{"name":"virtualmachine","state":"missing"}],
			"controller":{"namespace-controller":{"active":{"a":"2026-03-01T12:00:00Z"},"selection":"*","queue":{"queued":["b","c"],"queuedLeftOut":7,"delayed":[{"key":"d"}],"delayedLeftOut":1}}},
			"cluster":"uid-1",
			"deletions":[]}`))
	})
	require.NoError(t, err)
	assert.Equal(t, &status.Backlog{Waiting: 9, Active: 1, Planned: 2}, report.Backlog)
	assert.Equal(t, "uid-1", report.ClusterUID)
	assert.Equal(t, "https://h", report.Server)
	assert.Equal(t, []string{"the replica's data may be stale: its watch of namespaces has failed 3 times in a row: EOF"}, report.Problems)
}

func TestAgesAreOfTheServersClock(t *testing.T) {
	report, err := ask(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", noon.Format(http.TimeFormat))
		_, _ = w.Write([]byte(`{"informer":{"namespaces":{"hasSynced":true}},"controller":{"namespace-controller":{}},"deletions":[
			{"name":"at","deletedAt":"2026-03-01T11:59:00Z"},{"name":"before","deletedAt":"2026-03-01T11:59:01Z"},{"name":"later","deletedAt":"2026-03-01T12:00:05Z"}]}`))
	})
	require.NoError(t, err)
	var got []string
	for _, n := range report.Namespaces {
		got = append(got, fmt.Sprintf("%s %d", n.Name, n.Seconds))
	}
	assert.Equal(t, []string{"at 60", "before 59", "later 0"}, got)
}

func TestDeletionOf(t *testing.T) {
	deleted := api.NewTime(noon)
	namespace := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "ns", DeletionTimestamp: &deleted, Finalizers: []string{"a"}}}
	namespace.Spec.Finalizers = []string{"kubernetes", "b"}
	assert.Equal(t, status.Deletion{Name: "ns", DeletedAt: noon, Why: "the namespace itself has the finalizers a, b"}, status.DeletionOf(namespace))
	assert.Equal(t, []string{"kubernetes", "b"}, namespace.Spec.Finalizers, "it is the store's")
}
