package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/leaderelection"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/metrics"
	"orrery/restclient"
	"orrery/restclient/api"
)

// builtIn is an API server in this process, with a kubeconfig for it.
func builtIn(t *testing.T, faults ...string) (path string) {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{NoKubelet: true})
	require.NoError(t, err)
	for _, fault := range faults {
		_, err := server.Faults().Add(fault)
		require.NoError(t, err)
	}
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	path = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(path))
	return path
}

// replica is one "orrery run" that takes part in an election.
type replica struct {
	t      *testing.T
	stderr clustertest.Buffer
	stop   func()
	ended  <-chan error
}

// startReplica starts a replica with a long Lease, so that it cannot expire on a busy machine.
func startReplica(t *testing.T, path string, args ...string) *replica {
	t.Helper()
	r := &replica{t: t}
	r.stop, r.ended = startOrrery(t, &r.stderr, append([]string{
		"--kubeconfig", path, "--leader-elect", "--allow-second-controller", "--metrics-port=0",
		"--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=30m",
	}, args...)...)
	return r
}

// await waits for a line of the log.
func (r *replica) await(text string) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return strings.Contains(r.stderr.String(), text) }, 10*time.Minute,
		time.Millisecond, text)
}

// end stops the replica, which must end well.
func (r *replica) end() {
	r.t.Helper()
	r.stop()
	require.NoError(r.t, <-r.ended)
}

// leasesOf returns a client for the Leases of a cluster.
func leasesOf(t *testing.T, path string) *restclient.Resource[*api.Lease] {
	t.Helper()
	return restclient.Typed[*api.Lease](clientOf(t, path), api.LeasesResource, "kube-system")
}

// holdLease creates a Lease with a holder for an hour.
func holdLease(t *testing.T, path, name, holder string) *api.Lease {
	t.Helper()
	seconds, now := int32(3600), api.NewMicroTime(time.Now())
	spec := api.LeaseSpec{HolderIdentity: holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	lease := &api.Lease{ObjectMeta: api.ObjectMeta{Name: name}, Spec: spec}
	lease, err := leasesOf(t, path).Create(t.Context(), lease, api.UpdateOptions{})
	require.NoError(t, err)
	return lease
}

func leaseOf(t *testing.T, path string) *api.Lease {
	t.Helper()
	lease, err := leasesOf(t, path).Get(t.Context(), "orrery", api.GetOptions{})
	require.NoError(t, err)
	return lease
}

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
	leases := leasesOf(t, path)
	require.Eventually(t, func() bool { // force a change of leader; a renewal may come in between
		lease, err := leases.Get(t.Context(), "orrery", api.GetOptions{})
		require.NoError(t, err)
		lease.Spec.HolderIdentity = "another"
		_, err = leases.Update(t.Context(), lease, api.UpdateOptions{})
		return err == nil
	}, 10*time.Minute, time.Millisecond)
	err := <-leader.ended
	var lost *leaderelection.LostError
	require.ErrorAs(t, err, &lost)
	assert.Equal(t, "leadership was lost: the Lease kube-system/orrery is held by another", explain(err))
	assert.NotContains(t, leader.stderr.String(), "stopping: finishing",
		"the Lease is gone, so the work has been broken off")
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
	trace.Lost(nil)
	assert.Contains(t, shown(), `leader_election_master_status{name="mine"} 0`)
}

// notedEvents records no Events and remembers their messages.
type notedEvents []string

func (n *notedEvents) Event(_ context.Context, object api.ObjectReference, _ api.EventType, _, message string) {
	*n = append(*n, object.Name+": "+message)
}
