package cluster_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/cluster"
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
	leader := cluster.Leader{
		Lease: "kube-system/orrery", Holder: "node-1_7f3a", Since: ago(26*time.Hour + 10*time.Minute),
		SilentSeconds: 1, Transitions: 3,
	}
	for want, report := range map[string]cluster.Status{`
asked      the cluster at https://10.0.0.1:6443
leader     node-1_7f3a, for 1d2h; renewed 1s ago; Lease kube-system/orrery, 3 transitions
deletions  2 terminating namespaces

NAMESPACE  TERMINATING FOR  STATE
shop       14m              Some resources are remaining: pods. has 1 resource instances
blue       7s               no condition says why

What keeps them, and what to do: orrery why -A
`: {Leader: leader, Namespaces: []cluster.Namespace{
		{Name: "shop", Why: "Some resources are remaining: pods. has 1 resource instances", Seconds: 843},
		{Name: "blue", Why: "no condition says why", Seconds: 7},
	}}, `
asked      the cluster at https://10.0.0.1:6443
leader     none: there is no Lease kube-system/orrery
deletions  0 terminating namespaces
`: {Leader: cluster.Leader{Missing: "there is no Lease kube-system/orrery"}}} {
		report.Server, report.Time = "https://10.0.0.1:6443", noon
		var text strings.Builder
		require.NoError(t, report.WriteText(&text))
		assert.Equal(t, strings.TrimPrefix(want, "\n"), text.String())
	}
}

// counted is the API server in memory, with its requests.
type counted struct {
	*clustertest.Cluster
	t        *testing.T
	requests []string
}

func onCluster(t *testing.T, act func(c *counted)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &counted{t: t}
		c.Cluster = clustertest.Start(t, apiserver.Config{}, func(server http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.requests = append(c.requests, r.Method+" "+r.URL.Path)
				if !assert.Less(t, len(c.requests), 99, "a page is asked for once") {
					panic(http.ErrAbortHandler)
				}
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=500", "limit=2", 1) // shorter pages
				server.ServeHTTP(w, r)
			})
		})
		act(c)
	})
}

func (c *counted) report() *cluster.Status {
	c.t.Helper()
	c.requests = nil
	report, err := cluster.ReadStatus(c.t.Context(), c.Admin(), "kube-system", "orrery")
	require.NoError(c.t, err)
	return report
}

// The age of a deletion is no problem: "orrery why" may say that the namespace makes progress.
func TestTheClusterSaysWhatTerminates(t *testing.T) {
	onCluster(t, func(c *counted) {
		for _, name := range []string{"active", "old", "older", "young"} {
			c.Must("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
		}
		c.Must("PATCH", "/api/v1/namespaces/older", `{"metadata":{"finalizers":["x.io/own"]}}`)
		c.Must("DELETE", "/api/v1/namespaces/older", "")
		time.Sleep(time.Second)
		c.Must("DELETE", "/api/v1/namespaces/old", "")
		c.Must("PATCH", "/api/v1/namespaces/old/status", `{"status":{"conditions":[
			{"type":"NamespaceContentRemaining","status":"True","reason":"SomeResourcesRemain","message":"pods remain"},
			{"type":"NamespaceDeletionDiscoveryFailure","status":"False","reason":"ResourcesDiscovered","message":"all well"},
			{"type":"NamespaceFinalizersRemaining","status":"True","reason":"SomeFinalizersRemain",
			 "message":"so do finalizers"}]}}`)
		c.Must("PUT", "/api/v1/namespaces/older/finalize",
			`{"metadata":{"name":"older","finalizers":["x.io/own"]},"spec":{"finalizers":["kubernetes","x.io/hold"]}}`)
		time.Sleep(2 * time.Minute)
		c.Must("DELETE", "/api/v1/namespaces/young", "")
		time.Sleep(time.Second)

		report := c.report()
		const lease = "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/orrery"
		assert.Equal(t, []string{"GET /api/v1/namespaces", "GET /api/v1/namespaces", lease}, c.requests, "two pages")
		var got []string
		for _, n := range report.Namespaces {
			got = append(got, fmt.Sprintf("%s %d %s", n.Name, n.Seconds, n.Why))
		}
		assert.Equal(t, []string{
			"older 122 the namespace itself has the finalizers x.io/own, x.io/hold",
			"old 121 pods remain; so do finalizers",
			"young 1 no condition says why",
		}, got, "the conditions that are true, or the finalizers in metadata and in spec")
		assert.Equal(t, []string{"no leader: there is no Lease kube-system/orrery"}, report.Problems)

		for _, resource := range []string{"namespaces", "leases"} {
			heal := c.Fault("forbid:resource=" + resource)
			_, err := cluster.ReadStatus(c.t.Context(), c.Admin(), "kube-system", "orrery")
			assert.True(t, api.IsForbidden(err), "%s that cannot be read are no state: %v", resource, err)
			heal()
		}
	})
}

func TestTheClusterSaysWhoLeads(t *testing.T) {
	onCluster(t, func(c *counted) {
		const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
		acquired, renewed := time.Now().Add(-time.Hour), time.Now()
		micro := func(moment time.Time) string { return moment.UTC().Format("2006-01-02T15:04:05.000000Z") }
		c.Must("POST", path, `{"metadata":{"name":"orrery"},
			"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"leaseTransitions":4,
			"acquireTime":"`+micro(acquired)+`","renewTime":"`+micro(renewed)+`"}}`)
		time.Sleep(15 * time.Second)
		report := c.report()
		assert.Equal(t, []string{}, report.Problems, "a leader has the whole duration of its Lease") // a list in JSON
		assert.True(t, report.Leader.Since.Equal(acquired.Truncate(time.Microsecond)))
		report.Leader.Since = nil
		want := cluster.Leader{Lease: "kube-system/orrery", Holder: "a_1", SilentSeconds: 15, Transitions: 4}
		assert.Equal(t, want, report.Leader)

		time.Sleep(time.Second)
		assert.Equal(t,
			[]string{"no leader: a_1, the last holder of the Lease kube-system/orrery, has been silent for 16s"},
			c.report().Problems)

		c.Must("PATCH", path+"/orrery", `{"spec":{"holderIdentity":null,"renewTime":"`+micro(time.Now())+`"}}`)
		time.Sleep(5 * time.Second)
		report = c.report()
		assert.Equal(t, []string{"no leader: the Lease kube-system/orrery was released 5s ago"}, report.Problems)
		assert.Nil(t, report.Leader.Since)
	})
}
