package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"orrery/upstream/controlplane"
)

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
