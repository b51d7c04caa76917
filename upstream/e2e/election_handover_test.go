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

// The two times that are promised.
const (
	takeoverWithin = 20 * time.Second
	handoverWithin = 2 * time.Second
)

// slowly has a replica take so long for a hundred namespaces that there is a middle to be caught in.
var slowly = []string{"--concurrent-namespace-syncs=1", "--kube-api-qps=4", "--kube-api-burst=1"}

func namespaceNamed(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// A leader dies in the middle of its work. The other one finishes it.
func testKilledLeader(t *testing.T, e *election) {
	e.promised(takeoverWithin, func(e *election) (from, to time.Time) { return killLeader(t, e) })
}

// killLeader returns the stretch of time in which no replica worked.
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

// A leader that dies seconds after it has begun to work has looked for other controllers, and says so in the Lease. Its successor
// begins at once.
func testKilledSoon(t *testing.T, e *election) {
	const careful = "--allow-second-controller=false"
	leader := e.start("first", careful)
	leader.AwaitOutput("controller started")
	standby := e.start("second", careful)
	standby.AwaitOutput("standing by")
	e.eventually("the Lease says that its holder is at work", func() (bool, error) {
		lease := e.lease()
		return lease.Annotations["orrery/at-work"] == *lease.Spec.HolderIdentity, nil
	})
	leader.Kill()
	standby.AwaitOutput("controller started")
	leader.RequireOutput("whether another controller of this kind works cannot be seen, going on")
	assert.NotContains(t, standby.Output(), "whether another controller of this kind works")
}

// A leader that has nothing to do and is told to end hands over at once: nobody waits for a lease to run out.
func testCleanStop(t *testing.T, e *election) {
	e.promised(handoverWithin, func(e *election) (from, to time.Time) { return stopLeader(t, e) })
}

// stopLeader returns the stretch of time in which no replica led.
func stopLeader(t *testing.T, e *election) (from, to time.Time) {
	leader, standby := e.startPair()
	stopped := time.Now()
	leader.Interrupt()
	standby.AwaitOutput("became leader")
	assert.Equal(t, 0, leader.AwaitExit())
	leader.RequireOutput("gave the Lease back")
	requireWarm(t, standby)

	// The one that has taken over works.
	name := e.fill(1)
	e.deleteAll(name)
	e.awaitAllGone(name)
	assert.Empty(t, leader.work())
	standby.Kill()
	return stopped, standby.leaseWrites()[0].StageTimestamp
}

// A leader that has something in hand when it is told to end goes on renewing until that is finished.
func testCleanStopWithWorkInHand(t *testing.T, e *election) {
	e.promised(handoverWithin, func(e *election) (from, to time.Time) { return stopLeaderAtWork(t, e) })
}

// stopLeaderAtWork returns the stretch of time in which no replica led.
func stopLeaderAtWork(t *testing.T, e *election) (from, to time.Time) {
	namespace := e.name
	through, gate := e.fillBehindRelay(namespace, e.kubeconfig("first"))
	e.through = map[string]string{"first": through}
	leader, standby := e.startPair()
	e.deleteNamespace(namespace)
	gate.AwaitReached()
	leader.Interrupt()
	leader.AwaitOutput("stopping")
	renewed := len(leader.leaseWrites())
	e.eventually("the leader has renewed more often than a lease lasts", func() (bool, error) {
		return len(leader.leaseWrites()) >= renewed+5, nil
	})
	require.True(t, leader.Running(), "it waits for what is in hand")
	assert.Empty(t, standby.leaseWrites(), "the other one waits")

	gate.Open()
	assert.Equal(t, 0, leader.AwaitExit())
	standby.AwaitOutput("became leader")
	writes := leader.leaseWrites()
	released := writes[len(writes)-1].StageTimestamp
	for _, a := range leader.work() {
		assert.Less(t, a.RequestReceivedTimestamp, released, "%s came after the Lease was given back", a)
	}
	e.awaitGone(namespace)
	standby.Kill()
	return released, standby.leaseWrites()[0].StageTimestamp
}

// A leader is stopped for twice as long as its lease lasts, in the middle of its work, and then goes on: a machine was
// suspended, or had no time. Another one leads meanwhile, so nothing that it had begun may get out any more.
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
		assert.Less(t, a.RequestReceivedTimestamp, continued, "%s was sent by one that does not lead any more", a)
	}
}

// Ctrl-C ends one that stands by, at once and with success. The Lease is none of its business.
func testInterruptedStandby(t *testing.T, e *election) {
	leader, standby := e.startPair()
	standby.Interrupt()
	assert.Equal(t, 0, standby.AwaitExit())
	assert.Empty(t, standby.leaseWrites())
	assert.Contains(t, standby.Output(), "stopped\n")
	assert.Empty(t, standby.work())
	leader.Interrupt()
	assert.Equal(t, 0, leader.AwaitExit())
}

// Who may not have the Lease is told what is missing, and what can be done without it.
func testForbiddenLease(t *testing.T, e *election) {
	kubeconfig, err := e.cp.KubeconfigFor(ControllerIdentity)
	require.NoError(t, err)
	orrery := runOrrery(t, kubeconfig, "--leader-elect=true", "--leader-elect-resource-name="+e.name, "--allow-second-controller")
	assert.Equal(t, 1, orrery.AwaitExit())
	orrery.RequireOutput("orrery: leader election cannot ", "kube-system/forbidden", "orrery rbac", "--leader-elect=false")

	// One that may read it and not write it is told at once too, and not when it is to take over.
	e.start("holder").AwaitOutput("became leader")
	reader, err := e.cp.KubeconfigFor("lease-reader", "lease-readers")
	require.NoError(t, err)
	e.allow("lease-readers", "get", "list", "watch")
	orrery = runOrrery(t, reader, "--leader-elect=true", "--leader-elect-resource-name="+e.name, "--allow-second-controller")
	assert.Equal(t, 1, orrery.AwaitExit())
	orrery.RequireOutput("orrery: leader election cannot update the Lease kube-system/forbidden")
}
