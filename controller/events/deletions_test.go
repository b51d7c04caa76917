package events

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

// said remembers Events.
type said struct {
	lines  []string
	object api.ObjectReference // of the last one
	origin string
}

func (s *said) Event(ctx context.Context, object api.ObjectReference, kind api.EventType, reason, message string) {
	s.lines = append(s.lines, fmt.Sprintf("%s %s %s: %s", object.Name, kind, reason, message))
	s.object, s.origin = object, restclient.OriginOf(ctx)
}

func deleted(name, uid string) *api.Namespace {
	return &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name, UID: uid, ResourceVersion: "7"}}
}

// report makes a pass over blue that finds the conditions with these reasons true.
func report(trace *nsctl.Trace, reasons ...string) {
	messages := map[string]api.NamespaceCondition{
		"ContentDeletionFailed": {Type: api.NamespaceDeletionContentFailure, Message: "secrets are forbidden"},
		"SomeResourcesRemain":   {Type: api.NamespaceContentRemaining, Message: "pods. has 1 resource instances"},
		"SomeFinalizersRemain":  {Type: api.NamespaceFinalizersRemaining, Message: "example.com/hold in 1"},
		"Strange":               {Type: "Strange", Message: "of another controller"},
	}
	conditions := []api.NamespaceCondition{{Type: api.NamespaceDeletionDiscoveryFailure, Status: api.ConditionFalse}}
	for _, reason := range reasons {
		condition := messages[reason]
		condition.Reason, condition.Status = reason, api.ConditionTrue
		conditions = append(conditions, condition)
	}
	trace.PassContext(context.Background(), "blue")
	trace.ConditionsUpdated("blue", conditions)
	time.Sleep(10 * time.Second)
}

func TestDeletions(t *testing.T) {
	for _, test := range []struct {
		name string
		play func(trace *nsctl.Trace)
		want []string
	}{
		// A deletion is timed from its timestamp, however late this process has seen it.
		{"the outcome", func(trace *nsctl.Trace) {
			trace.Enqueued(deleted("blue", "1"), 5*time.Second)
			red, began := deleted("red", "2"), api.NewTime(time.Now())
			red.DeletionTimestamp = &began
			time.Sleep(6200 * time.Millisecond)
			trace.PassContext(context.Background(), "blue")
			trace.Finalized("blue", nil)
			trace.Enqueued(deleted("blue", "1"), 0) // its last update arrives late
			time.Sleep(14*time.Minute - 6200*time.Millisecond)
			trace.Enqueued(red, 0)
			trace.PassContext(context.Background(), "red")
			trace.Finalized("red", nil)
		}, []string{
			"blue Normal NamespaceDeleted: Emptied and finalized within 6.2s, in 1 pass of this process",
			"red Normal NamespaceDeleted: Emptied and finalized within 14m0s, in 1 pass of this process",
		}},
		// A namespace that hangs is examined every few seconds. The cause is recorded when it
		// changes.
		{"an obstacle is reported once", func(trace *nsctl.Trace) {
			trace.Enqueued(deleted("blue", "1"), 0)
			for range 5 {
				report(trace, "SomeResourcesRemain")
			}
			for range 5 {
				report(trace, "SomeResourcesRemain", "SomeFinalizersRemain")
			}
			report(trace, "ContentDeletionFailed", "Strange")
			report(trace, "Strange")
			report(trace)
			report(trace, "ContentDeletionFailed")
			trace.Finalized("blue", nil)
		}, []string{
			"blue Normal NamespaceContentRemaining: pods. has 1 resource instances",
			"blue Warning NamespaceDeletionBlocked: pods. has 1 resource instances; example.com/hold in 1",
			"blue Warning NamespaceDeletionBlocked: secrets are forbidden",
			"blue Warning NamespaceDeletionBlocked: secrets are forbidden",
			"blue Normal NamespaceDeleted: Emptied and finalized within 2m20s, in 14 passes of this process",
		}},
		{"a refused finalize", func(trace *nsctl.Trace) {
			trace.Enqueued(deleted("blue", "1"), 0)
			for range 3 {
				trace.Finalized("blue", fmt.Errorf("finalizing: %w",
					api.NewStatusError(api.Status{Code: 403, Message: "a webhook says no"})))
				trace.Finalized("blue", errors.New("the connection broke off"))
				trace.Finalized("blue", api.NewStatusError(api.Status{Code: 404, Reason: api.ReasonNotFound}))
			}
		}, []string{"blue Warning NamespaceFinalizingFailed: The namespace is empty, but it cannot be finalized: " +
			"a webhook says no"}},
		// A new namespace with an old name is a different one. One that was never seen terminating
		// has no Events.
		{"namespaces are distinguished by UID", func(trace *nsctl.Trace) {
			trace.Finalized("blue", nil)
			report(trace, "SomeFinalizersRemain")
			for _, uid := range []string{"1", "2"} {
				trace.Enqueued(deleted("blue", uid), 0)
				report(trace, "SomeFinalizersRemain")
			}
			trace.Finalized("blue", nil)
		}, []string{
			"blue Warning NamespaceDeletionBlocked: example.com/hold in 1",
			"blue Warning NamespaceDeletionBlocked: example.com/hold in 1",
			"blue Normal NamespaceDeleted: Emptied and finalized within 10.0s, in 1 pass of this process",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var found said
				test.play(Deletions(&found))
				assert.Equal(t, test.want, found.lines)
			})
		})
	}
}

// The requests of an Event carry the reconcile ID of their pass, also when that has ended.
func TestEventsBelongToTheirPass(t *testing.T) {
	var found said
	trace := Deletions(&found)
	trace.Enqueued(deleted("blue", "1"), 0)
	ctx, end := context.WithCancel(restclient.WithOrigin(context.Background(), "pass-7"))
	assert.Equal(t, ctx, trace.PassContext(ctx, "blue"))
	end()
	trace.Finalized("blue", nil)
	assert.Equal(t, "pass-7", found.origin)
	assert.Equal(t, api.ObjectReference{Kind: "Namespace", APIVersion: "v1", Name: "blue", UID: "1",
		ResourceVersion: "7"}, found.object)
}

// Memory is bounded, however many Events are recorded. Deletions that have ended are forgotten
// before those that go on.
func TestMemoryIsBounded(t *testing.T) {
	c := newCorrelator()
	var found said
	trace := Deletions(&found)
	trace.Enqueued(deleted("first", "first"), 0)
	for i := range 2 * remembered {
		name := fmt.Sprint(i)
		event := &api.Event{InvolvedObject: api.ObjectReference{Name: name}, Message: "a", Count: 1}
		require.NotNil(t, c.correlate(event, time.Unix(1_000_000, 0)))
		require.LessOrEqual(t, max(len(c.seen), len(c.budgets)), remembered)
		trace.Enqueued(deleted(name, name), 0)
		trace.Finalized(name, nil)
		trace.Enqueued(deleted(name, name), 0) // its last update arrives late
	}
	trace.Finalized("first", nil)
	assert.Len(t, found.lines, 2*remembered+1)
}
