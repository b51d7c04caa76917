package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	"orrery/upstream/controlplane"
)

// replicaGroup is the group of the replicas in the audit log. Each replica is a user of its own, so
// that their requests can be distinguished.
const replicaGroup = "orrery:replicas"

// Two replicas hand over when the leader is killed, stopped or paused. Package leaderelection tests
// how long that takes, in virtual time. The parts run one after the other: each deletes namespaces,
// and a replica works on all of them.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	reserveCluster(t)
	tr := onControlPlane(t, controlplane.Config{AuditPolicy: auditGroup(replicaGroup)})
	for name, test := range map[string]func(*testing.T, *election){
		"killed":  testKilledLeader,
		"stopped": testCleanStop,
		"paused":  testPausedLeader,
	} {
		t.Run(name, func(t *testing.T) { test(t, &election{trial: tr.in(t), name: name}) })
	}
}

// A leader dies in the middle of its work, and the other replica finishes it.
func testKilledLeader(t *testing.T, e *election) {
	leader, standby, names := e.interrupted("--concurrent-namespace-syncs=1")
	leader.Kill()
	e.eventually("all namespaces are gone", func() (bool, error) { return e.left(names) == 0, nil })
	requireNotBoth(t, leader, standby)
	requireWarm(t, standby)
	assert.Equal(t, int32(1), *e.lease().LeaseTransitions)
	standby.Kill()
}

// An idle leader that is stopped hands over at once: its successor does not wait for the Lease to
// expire.
func testCleanStop(t *testing.T, e *election) {
	leader, standby := e.startPair()
	leader.Interrupt()
	standby.AwaitOutput("became leader")
	assert.Equal(t, exitInterrupted, leader.AwaitExit())
	leader.RequireOutput("released the Lease")
	requireWarm(t, standby)

	// The successor works.
	e.comeAndGo("after-" + e.name)
	assert.Empty(t, leader.work())
	standby.Kill()
}

// A leader is paused in the middle of its work for twice its lease duration, as when a machine is
// suspended, and then goes on. Another replica leads meanwhile, so the old leader must send nothing
// more.
func testPausedLeader(t *testing.T, e *election) {
	leader, standby, names := e.interrupted("--concurrent-namespace-syncs=10")
	leader.Signal(syscall.SIGSTOP)
	paused := time.Now()
	e.eventually("the pause is long enough, and the other one works", func() (bool, error) {
		return time.Since(paused) > 30*time.Second && len(standby.work()) > 0, nil
	})
	continued := time.Now()
	leader.Signal(syscall.SIGCONT)
	assert.Equal(t, 1, leader.AwaitExit())
	leader.RequireOutput("orrery: leadership was lost: the Lease kube-system/paused")
	e.eventually("all namespaces are gone", func() (bool, error) { return e.left(names) == 0, nil })

	requireNotBoth(t, leader, standby)
	late := slices.DeleteFunc(leader.requests(),
		func(a Request) bool { return a.RequestReceivedTimestamp.Before(continued) })
	// A write that had passed the fence when the process was stopped goes out when it continues.
	assert.LessOrEqual(t, len(late), 1, "sent by a replica that no longer leads: %v", late)
}

// election is one Lease with its contenders.
type election struct {
	*trial
	name string // of the Lease
}

// replica is one run of orrery.
type replica struct {
	*program
	election *election
	user     string
}

// start runs a replica as the user.
func (e *election) start(user string, args ...string) *replica {
	e.t.Helper()
	user = e.name + "-" + user
	kubeconfig, err := e.cluster.KubeconfigFor(user, replicaGroup, "system:masters")
	require.NoError(e.t, err)
	args = append([]string{
		"--leader-elect=true", "--leader-elect-resource-name=" + e.name, "-v1",
		"--allow-second-controller", "--namespace-deletion-grace-period=1s",
	}, args...)
	return &replica{program: runOrrery(e.t, kubeconfig, args...), election: e, user: user}
}

// startPair runs two replicas: the first leads, and the second stands by with warm caches. The
// first gets the arguments.
func (e *election) startPair(slow ...string) (leader, standby *replica) {
	e.t.Helper()
	leader = e.start("first", slow...)
	leader.AwaitOutput("became leader")
	standby = e.start("second")
	standby.AwaitOutput("standing by")
	standby.AwaitOutput("store is filled")
	return leader, standby
}

// interrupted deletes a hundred namespaces, for which the leader is so slow that it has done some of
// them, and not all, when interrupted returns.
func (e *election) interrupted(slow string) (leader, standby *replica, names []string) {
	e.t.Helper()
	names = make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%03d", e.name, i)
	}
	e.createFilled(names, 10)
	leader, standby = e.startPair(slow, "--kube-api-qps=4", "--kube-api-burst=1")
	e.deleteAll(names)
	e.eventually("some namespaces are gone", func() (bool, error) { return e.left(names) <= len(names)-5, nil })
	require.NotZero(e.t, e.left(names), "the deletions finished before the test could interrupt them")
	return leader, standby, names
}

func (e *election) lease() coordinationv1.LeaseSpec { return e.leaseOf(e.name) }

// leaseOf returns a Lease in the namespace kube-system.
func (tr *trial) leaseOf(name string) coordinationv1.LeaseSpec {
	tr.t.Helper()
	lease, err := tr.client.CoordinationV1().Leases("kube-system").Get(tr.ctx, name, metav1.GetOptions{})
	require.NoError(tr.t, err)
	return lease.Spec
}

// leaseHolder returns the holder of a Lease; "" if it is free.
func (tr *trial) leaseHolder(name string) string {
	tr.t.Helper()
	return ptr.Deref(tr.leaseOf(name).HolderIdentity, "")
}

// requests returns the replica's requests in the order of arrival.
func (r *replica) requests() []Request {
	r.election.t.Helper()
	requests := r.election.auditedOf(r.user)
	slices.SortFunc(requests, func(a, b Request) int {
		return a.RequestReceivedTimestamp.Compare(b.RequestReceivedTimestamp)
	})
	return requests
}

// isWork reports whether the request changes namespaces or their content. Writes of the Lease and
// of Events are not work.
func (r Request) isWork() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
	default:
		return false
	}
	ref := r.ObjectRef
	if ref.APIGroup == "authorization.k8s.io" { // a review of rights is a create and stores nothing
		return false
	}
	isOwn := ref.Resource == "events" && (ref.Namespace == "default" || ref.Namespace == "kube-system")
	return ref.Resource != "leases" && !isOwn
}

// work returns the replica's requests that are work.
func (r *replica) work() []Request {
	r.election.t.Helper()
	return slices.DeleteFunc(r.requests(), func(a Request) bool { return !a.isWork() })
}

// leaseWrites returns the replica's successful writes of the Lease.
func (r *replica) leaseWrites() []Request {
	r.election.t.Helper()
	return slices.DeleteFunc(r.requests(), func(a Request) bool {
		isWrite := (a.Verb == "update" || a.Verb == "create") && !strings.Contains(a.RequestURI, "dryRun")
		return a.ObjectRef.Resource != "leases" || !isWrite || a.ResponseStatus.Code >= 300
	})
}

// requireNotBoth checks that the last write of one replica was answered before the first of the
// other.
func requireNotBoth(t *testing.T, before, after *replica) {
	t.Helper()
	first, second := before.work(), after.work()
	require.NotEmpty(t, first, "%s did nothing", before.user)
	require.NotEmpty(t, second, "%s did nothing", after.user)
	for _, a := range first {
		assert.Less(t, a.RequestReceivedTimestamp, second[0].RequestReceivedTimestamp,
			"%s sent %s after %s had begun with %s", before.user, a, after.user, second[0])
	}
}

// requireWarm checks that a replica had filled its store before it took over, and filled it once.
func requireWarm(t *testing.T, r *replica) {
	t.Helper()
	began := r.leaseWrites()[0].RequestReceivedTimestamp
	lists := slices.DeleteFunc(r.requests(), func(a Request) bool { return !a.initialList() })
	require.NotEmpty(t, lists)
	for _, list := range lists {
		assert.Less(t, list.RequestReceivedTimestamp, began, "%s", list)
	}
}

// original is a participant built with client-go.
type original struct {
	leads chan struct{} // closed when it leads
	ended chan struct{} // closed when it has ended
	end   context.CancelFunc
}

// startOriginal takes part in the election until end is called. With release it then releases the
// Lease.
func (e *election) startOriginal(identity string, release bool) *original {
	e.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.ctx))
	o := &original{leads: make(chan struct{}), ended: make(chan struct{}), end: cancel}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "kube-system", Name: e.name},
			Client:     e.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(o.leads) },
			OnStoppedLeading: func() {},
		},
	})
	require.NoError(e.t, err)
	go func() {
		defer close(o.ended)
		elector.Run(ctx)
	}()
	e.t.Cleanup(func() { cancel(); <-o.ended })
	return o
}

func (o *original) awaitLeading(e *election) {
	e.t.Helper()
	e.eventually("client-go leads", func() (bool, error) { return isClosed(o.leads), nil })
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func (o *original) stop() { o.end(); <-o.ended }

// Programs built with client-go and with this project contend for one Lease. Each stands by while
// the other leads, takes a released Lease at once, and an unreleased one when it has expired.
func TestContendsWithClientGo(t *testing.T) {
	t.Parallel()
	reserveCluster(t)
	tr := onControlPlane(t, controlplane.Config{AuditPolicy: auditGroup(replicaGroup)})
	e := &election{trial: tr, name: "client-go"}
	transitions := int32(0)
	requireHolder := func(holder string) {
		t.Helper()
		spec := e.lease()
		require.NotNil(t, spec.HolderIdentity)
		assert.Contains(t, *spec.HolderIdentity, holder)
		assert.Equal(t, transitions, *spec.LeaseTransitions)
		assert.Equal(t, int32(15), *spec.LeaseDurationSeconds)
		assert.False(t, spec.RenewTime.Before(spec.AcquireTime))
	}

	original := e.startOriginal("original-1", true)
	original.awaitLeading(e)
	requireHolder("original-1")
	ours := e.start("first")
	ours.AwaitOutput("standing by", "leader=original-1")
	assert.Empty(t, ours.leaseWrites())

	original.stop() // and gives it back
	ours.AwaitOutput("became leader", "predecessor=original-1")
	transitions++
	requireHolder("_")

	original = e.startOriginal("original-2", false)
	renewals := len(ours.leaseWrites())
	e.eventually("ours has renewed beside client-go", func() (bool, error) {
		return len(ours.leaseWrites()) >= renewals+3, nil
	})
	assert.False(t, isClosed(original.leads))
	ours.Interrupt()
	require.Equal(t, exitInterrupted, ours.AwaitExit())
	original.awaitLeading(e)
	transitions++
	requireHolder("original-2")

	ours = e.start("second")
	ours.AwaitOutput("standing by", "leader=original-2")
	original.stop() // like one that dies
	ours.AwaitOutput("became leader", "predecessor=original-2")
	transitions++
	requireHolder("_")

	original = e.startOriginal("original-3", true)
	ours.Kill()
	original.awaitLeading(e)
	transitions++
	requireHolder("original-3")
}
