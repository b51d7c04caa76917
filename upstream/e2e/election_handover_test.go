package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The two promised bounds.
const (
	takeoverWithin = 20 * time.Second
	handoverWithin = 2 * time.Second
)

// slowly makes a replica take so long for a hundred namespaces that the test can interrupt it.
var slowly = []string{"--concurrent-namespace-syncs=1", "--kube-api-qps=4", "--kube-api-burst=1"}

func namespaceNamed(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// A leader dies in the middle of its work, and the other replica finishes it.
func testKilledLeader(t *testing.T, e *election) {
	e.promised(takeoverWithin, func(e *election) (from, to time.Time) { return killLeader(t, e) })
}

// killLeader returns the period in which no replica worked.
func killLeader(t *testing.T, e *election) (from, to time.Time) {
	names := e.fill(100)
	leader, standby := e.startPair(slowly...)
	e.deleteAll(names)
	e.awaitHalfway(names, 5)

	killed := time.Now()
	leader.Kill()
	e.awaitAllGone(names)

	requireNotBoth(t, leader, standby)
	requireWarm(t, standby)
	assert.Equal(t, int32(1), *e.lease().Spec.LeaseTransitions)
	standby.Kill()
	return killed, standby.work()[0].RequestReceivedTimestamp
}

// The successor of a leader that dies seconds after it began to work looks for other controllers
// itself, and begins.
func testKilledSoon(t *testing.T, e *election) {
	const careful = "--allow-second-controller=false"
	leader := e.start("first", careful)
	leader.AwaitOutput("controller started")
	standby := e.start("second", careful)
	standby.AwaitOutput("standing by")
	leader.Kill()
	standby.AwaitOutput("controller started")
	for _, r := range []*replica{leader, standby} {
		r.RequireOutput("cannot determine whether another controller of this kind is active, continuing")
	}
}

// An idle leader that is stopped hands over at once: its successor does not wait for the Lease to
// expire.
func testCleanStop(t *testing.T, e *election) {
	e.promised(handoverWithin, func(e *election) (from, to time.Time) { return stopLeader(t, e) })
}

// stopLeader returns the period in which no replica led.
func stopLeader(t *testing.T, e *election) (from, to time.Time) {
	leader, standby := e.startPair()
	stopped := time.Now()
	leader.Interrupt()
	standby.AwaitOutput("became leader")
	assert.Equal(t, exitInterrupted, leader.AwaitExit())
	leader.RequireOutput("released the Lease")
	requireWarm(t, standby)

	// The successor works.
	name := e.fill(1)
	e.deleteAll(name)
	e.awaitAllGone(name)
	assert.Empty(t, leader.work())
	standby.Kill()
	return stopped, standby.leaseWrites()[0].StageTimestamp
}

// A leader that is stopped during a pass goes on renewing until the pass is finished.
func testCleanStopWithWorkInHand(t *testing.T, e *election) {
	e.promised(handoverWithin, func(e *election) (from, to time.Time) { return stopLeaderAtWork(t, e) })
}

// stopLeaderAtWork returns the period in which no replica led.
func stopLeaderAtWork(t *testing.T, e *election) (from, to time.Time) {
	namespace := e.name
	through, blocker := e.fillBehindRelay(namespace, e.kubeconfig("first"))
	e.through = map[string]string{"first": through}
	leader, standby := e.startPair()
	e.deleteNamespace(namespace)
	blocker.AwaitReached()
	leader.Interrupt()
	leader.AwaitOutput("stopping")
	renewed := len(leader.leaseWrites())
	e.eventually("the leader has renewed more often than a lease lasts", func() (bool, error) {
		return len(leader.leaseWrites()) >= renewed+5, nil
	})
	require.True(t, leader.Running(), "it waits for the running pass")
	assert.Empty(t, standby.leaseWrites(), "the other one waits")

	blocker.Release()
	assert.Equal(t, exitInterrupted, leader.AwaitExit())
	standby.AwaitOutput("became leader")
	writes := leader.leaseWrites()
	released := writes[len(writes)-1].StageTimestamp
	for _, a := range leader.work() {
		assert.Less(t, a.RequestReceivedTimestamp, released, "%s came after the Lease was released", a)
	}
	e.awaitGone(namespace)
	standby.Kill()
	return released, standby.leaseWrites()[0].StageTimestamp
}

// A leader is paused in the middle of its work for twice its lease duration, as when a machine is
// suspended, and then goes on. Another replica leads meanwhile, so the old leader must send nothing
// more.
func testPausedLeader(t *testing.T, e *election) {
	names := e.fill(100)
	leader, standby := e.startPair("--concurrent-namespace-syncs=10", "--kube-api-qps=4", "--kube-api-burst=1")
	e.deleteAll(names)
	e.awaitHalfway(names, 5)

	leader.Signal(syscall.SIGSTOP)
	paused := time.Now()
	e.eventually("the pause is long enough, and the other one works", func() (bool, error) {
		return time.Since(paused) > 30*time.Second && len(standby.work()) > 0, nil
	})
	continued := time.Now()
	leader.Signal(syscall.SIGCONT)
	assert.Equal(t, 1, leader.AwaitExit())
	leader.RequireOutput("orrery: leadership was lost: the Lease kube-system/paused")
	e.awaitAllGone(names)

	requireNotBoth(t, leader, standby)
	for _, a := range leader.requests() {
		assert.Less(t, a.RequestReceivedTimestamp, continued, "%s was sent by a replica that no longer leads", a)
	}
}
