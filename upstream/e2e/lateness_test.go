package e2e

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// lateness measures how far a busy machine falls behind. Beside a test it repeats a step whose time
// on an idle machine is known: a pause and a write of a Lease, which passes through kube-apiserver
// and etcd. The excess is the machine's lateness, not the tested program's.
type lateness struct {
	mu    sync.Mutex // guards late and step
	late  []lateStep
	begun time.Time // start of the current step
}

// lateStep is a period in which the machine was late.
type lateStep struct{ from, to time.Time }

const (
	latenessPause = 100 * time.Millisecond
	// latenessStep is the time of a pause and a write on an idle machine.
	latenessStep = 150 * time.Millisecond
)

// measureLateness measures until the test ends.
func measureLateness(t *testing.T, client kubernetes.Interface, name string) *lateness {
	t.Helper()
	leases := client.CoordinationV1().Leases("default")
	lease, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	l := &lateness{begun: time.Now()}
	ctx, stop := context.WithCancel(t.Context())
	var measuring sync.WaitGroup
	t.Cleanup(func() {
		stop()
		measuring.Wait()
	})
	measuring.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(latenessPause)
			lease.Spec.LeaseTransitions = ptr.To(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
			if updated, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err == nil {
				lease = updated
			}
			l.stepEnded(time.Now())
		}
	})
	return l
}

func (l *lateness) stepEnded(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if late := now.Sub(l.begun) - latenessStep; late > 0 {
		l.late = append(l.late, lateStep{from: now.Add(-late), to: now})
	}
	l.begun = now
}

// between returns the machine's lateness in a period, at most the length of the period.
func (l *lateness) between(from, to time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var sum time.Duration
	for _, step := range append(l.late, lateStep{from: l.begun.Add(latenessStep), to: to}) {
		begin, end := step.from, step.to
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		sum += max(0, end.Sub(begin))
	}
	return sum
}

// Lateness is subtracted exactly: none on a punctual machine.
func TestLatenessIsThatOfTheMachine(t *testing.T) {
	start := time.Now()
	at := func(after time.Duration) time.Time { return start.Add(after) }
	l := &lateness{begun: start}
	l.stepEnded(at(120 * time.Millisecond))
	l.stepEnded(at(240 * time.Millisecond))
	assert.Zero(t, l.between(at(0), at(240*time.Millisecond)), "every step was on time")

	l.stepEnded(at(240*time.Millisecond + latenessStep + 2*time.Second))
	end := at(240*time.Millisecond + latenessStep + 2*time.Second)
	assert.Equal(t, 2*time.Second, l.between(start, end), "one step was two seconds late")
	assert.Equal(t, time.Second, l.between(end.Add(-time.Second), end), "only lateness within the period counts")
	assert.Equal(t, time.Second-latenessStep, l.between(end, end.Add(time.Second)), "an unfinished step counts as well")
	assert.Zero(t, l.between(end, end.Add(latenessStep)))
}
