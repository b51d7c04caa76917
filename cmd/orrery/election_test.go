package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/leaderelection"
	"orrery/controller/manager"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/restclient"
	"orrery/restclient/api"
)

func TestReplicasTakeTurns(t *testing.T) {
	path := builtIn(t)
	first := startReplica(t, path)
	first.await("became leader")
	first.await("controller started")
	second := startReplica(t, path, "--allow-second-controller=false")
	second.await("standing by")
	assert.NotContains(t, second.stderr.String(), "controller started")

	first.end()
	first.await("released the Lease")
	second.await("controller started")
	assert.Contains(t, second.stderr.String(), "no other controller of this kind is active", "a new leader looks")
	second.end()
}

func TestAReplicaThatLosesItsLeaseEndsWithOneClearSentence(t *testing.T) {
	path := builtIn(t)
	leader := startReplica(t, path)
	leader.await("controller started")
	takeLease(t, path)
	err := <-leader.ended
	var lost *leaderelection.LostError
	require.ErrorAs(t, err, &lost)
	assert.Equal(t, "leadership was lost: the Lease kube-system/orrery is held by another", explain(err))
	assert.NotContains(t, leader.stderr.String(), "stopping: finishing",
		"the Lease is gone, so the work has been broken off")
}

// The flags of a run reach its client, whose connections end with the Lease.
func TestTheClientOfARun(t *testing.T) {
	path, options := builtIn(t), &runOptions{}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	options.addTo(flags)
	require.NoError(t, flags.Parse([]string{"--kubeconfig=" + path, "--gears=textbook", "--kube-api-qps=7",
		"--kube-api-burst=8", "--watch-transport=websocket", "--leader-elect-retry-period=50ms"}))
	require.NoError(t, options.check())
	assert.True(t, options.electing() && options.events && !options.allowSecond, "the defaults")
	p := &process{options: options, logger: logs.New(logs.Config{Writer: io.Discard}),
		observer: &observer{metrics: metrics.New("test")}, fence: &leaderelection.Fence{}}
	client, err := connect(options, p.logger, p.observer, nil, p.fence)
	require.NoError(t, err)
	defer client.Close()
	c := client.Config()
	assert.Equal(t, []any{float32(7), 8, restclient.WatchWebSocket}, []any{c.QPS, c.Burst, c.WatchTransport})
	assert.IsType(t, restclient.PlainCodec(), c.Codec, "the textbook's gear")
	assert.Equal(t, []any{10 * time.Second, 4 << 20, 8 << 20}, []any{c.MaxRetryAfter, c.MaxFrameBytes, c.MaxListBytes},
		"what a server may ask of a worker")

	p.client, p.manager = client, manager.NewManager(manager.Shared{Client: client}, nil)
	var lost *leaderelection.LostError
	require.ErrorAs(t, lead(t.Context(), p, func(alive context.Context) {
		takeLease(t, path)
		<-alive.Done()
	}), &lost)
	_, err = recognize(t.Context(), client)
	assert.ErrorIs(t, err, leaderelection.ErrFenced, "nothing is sent after the Lease was lost")
}

func TestElectionsThatCannotBeTakenPartInGetOneClearSentence(t *testing.T) {
	url := inMemory(t, func(w http.ResponseWriter, r *http.Request) bool {
		refused := strings.Contains(r.URL.Path, "/leases/")
		if refused {
			forbidden(w, r)
		}
		return refused
	})
	r := startReplica(t, writeKubeconfig(t, url, "{}"), "--leader-elect-retry-period=50ms")
	sentence := explain(<-r.ended)
	assert.Contains(t, sentence, "leader election cannot get the Lease kube-system/orrery")
	assert.Contains(t, sentence, `"orrery rbac"`)
	assert.Contains(t, sentence, "--leader-elect=false")

	r = startReplica(t, builtIn(t), "--leader-elect-resource-namespace=missing")
	assert.Contains(t, explain(<-r.ended), "--leader-elect-resource-namespace names a namespace that exists")
}

// A dry run does not write a Lease. It may run beside replicas that work.
func TestADryRunTakesNoPartInTheElection(t *testing.T) {
	var leases atomic.Int32
	url := inMemory(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/leases") {
			leases.Add(1)
		}
		return false
	})
	r := startReplica(t, writeKubeconfig(t, url, "{}"), "--dry-run")
	r.await("controller started")
	r.end()
	assert.Zero(t, leases.Load())
}

// As in kube-controller-manager: dashboards tell elections apart by the Lease name.
func TestMetricsCallAnElectionAsItsLease(t *testing.T) {
	options := &runOptions{election: electionOptions{leaseOptions: leaseOptions{name: "mine"}}}
	p := &process{options: options, observer: &observer{metrics: metrics.New("test")}}
	shown := func() string {
		answer := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		p.observer.metrics.Handler().ServeHTTP(answer, request)
		return answer.Body.String()
	}
	var recorded notedEvents
	trace := p.electionTrace(&recorded)
	trace.Acquired(leaderelection.Term{Identity: "me"})
	assert.Equal(t, notedEvents{"mine: me became leader"}, recorded)
	assert.Contains(t, shown(), `leader_election_master_status{name="mine"} 1`)
	for _, end := range []func(error){trace.Lost, trace.Released} {
		p.observer.metrics.Leading("mine", true)
		end(nil)
		assert.Contains(t, shown(), `leader_election_master_status{name="mine"} 0`, "it leads no more")
	}
}

// notedEvents records no Events and remembers their messages.
type notedEvents []string

func (n *notedEvents) Event(_ context.Context, object api.ObjectReference, _ api.EventType, _, message string) {
	*n = append(*n, object.Name+": "+message)
}

// crowdedCluster is an in-memory API server that looks like a real cluster. Once shown is closed
// it has a kube-controller-manager pod, whose command line enables the namespace controller;
// until then the pod cannot be read. looks counts the reads.
func crowdedCluster(t *testing.T, shown <-chan struct{}) (path string, looks *atomic.Int32) {
	t.Helper()
	looks = &atomic.Int32{}
	url := inMemory(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/version":
			_ = json.NewEncoder(w).Encode(api.VersionInfo{GitVersion: "v1.36.3"})
		case "/api/v1/namespaces/kube-system/pods":
			select {
			case <-shown:
				looks.Add(1)
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w,
					`{"items":[{"metadata":{"name":"m"},"spec":{"containers":[{"command":["kube-controller-manager"]}]},
					"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`)
			default:
				forbidden(w, r)
			}
		default:
			return false
		}
		return true
	})
	return writeKubeconfig(t, url, "{}"), looks
}

// A new leader that finds another namespace controller releases the Lease and exits. The next
// leader looks for itself.
func TestNoReplicaWorksAfterOneThatHasRefused(t *testing.T) {
	shown := make(chan struct{})
	path, looks := crowdedCluster(t, shown)
	held := holdLease(t, path, "orrery", "a replica that has not worked")
	replicas := []*replica{startReplica(t, path, "--allow-second-controller=false"),
		startReplica(t, path, "--allow-second-controller=false")}
	for _, r := range replicas {
		r.await("standing by")
	}
	close(shown) // both have probed and found nothing
	held.Spec.HolderIdentity = ""
	_, err := leasesOf(t, path).Update(t.Context(), held, api.UpdateOptions{})
	require.NoError(t, err)
	for _, r := range replicas {
		var refusal *secondControllerError
		require.ErrorAs(t, <-r.ended, &refusal, "two controllers are working")
		r.await("became leader")
		assert.NotContains(t, r.stderr.String(), "controller started")
	}
	assert.Equal(t, int32(2), looks.Load())
}

// With evidence readable at the start, the run does not start.
func TestAReplicaThatSeesAnotherControllerDoesNotStandBy(t *testing.T) {
	shown := make(chan struct{})
	close(shown)
	path, _ := crowdedCluster(t, shown)
	r := startReplica(t, path, "--allow-second-controller=false")
	var refusal *secondControllerError
	require.ErrorAs(t, <-r.ended, &refusal)
	assert.Contains(t, explain(refusal), "this cluster has an active namespace controller: kube-controller-manager in")
	assert.NotContains(t, r.stderr.String(), "waiting for leadership")
}

// A leader that is stopped while it looks for another controller has stopped, and has not failed.
func TestALeaderThatIsStoppedWhileItLooksHasNotFailed(t *testing.T) {
	path, _ := crowdedCluster(t, nil)
	options := &runOptions{controllers: everyController, election: electionOptions{elect: true}}
	require.NoError(t, options.choose())
	p := &process{options: options, client: clientOf(t, path), logger: logs.New(logs.Config{Writer: io.Discard})}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	assert.NoError(t, p.refuse(ctx, t.Context()), "the request that the end has cancelled is no reason")
}

// A probe that cannot see is worth a warning: two controllers may be active.
func TestAReplicaThatCannotSeeAnotherControllerWarns(t *testing.T) {
	path, _ := crowdedCluster(t, nil)
	r := startReplica(t, path, "--allow-second-controller=false")
	r.await("controller started")
	assert.Contains(t, r.stderr.String(),
		"WARN  cannot determine whether another controller of this kind is active, continuing")
	r.end()
}

// A suspicion is not reported as a fact, in a dry run either. A dry run does not wait for the grace
// period of a namespace.
func TestADryRunSaysHowMuchItKnows(t *testing.T) {
	path, _ := crowdedCluster(t, nil)
	holdLease(t, path, "kube-controller-manager", "m")
	deleteNamespace(t, clientOf(t, path), "shop")
	r := startReplica(t, path, "--allow-second-controller=false", "--dry-run",
		"--namespace-deletion-grace-period=24h")
	r.await("controller started")
	r.await("dry run: would delete")
	assert.Contains(t, r.stderr.String(), "another controller of this kind may be active")
	assert.NotContains(t, r.stderr.String(), "another controller of this kind is active")
	r.end()
}
