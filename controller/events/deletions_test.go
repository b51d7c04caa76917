package events_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/events"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

// lines formats Events as kubectl does.
func lines(stored []*api.Event) []string {
	var out []string
	for _, e := range stored {
		out = append(out, fmt.Sprintf("%s %s %s x%d: %s", e.InvolvedObject.Name, e.Type, e.Reason, e.Count, e.Message))
	}
	return out
}

func deleted(name, uid string) *api.Namespace {
	return &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name, UID: uid, ResourceVersion: "7"}}
}

func pass(trace *nsctl.Trace, namespace string) {
	trace.PassContext(context.Background(), namespace)
}

func holds(conditions ...string) []api.NamespaceCondition {
	all := []api.NamespaceCondition{
		{Type: api.NamespaceDeletionDiscoveryFailure, Reason: "DiscoveryFailed", Message: "a group is down"},
		{Type: api.NamespaceDeletionContentFailure, Reason: "ContentDeletionFailed", Message: "secrets are forbidden"},
		{Type: api.NamespaceContentRemaining, Reason: "SomeResourcesRemain", Message: "pods. has 1 resource instances"},
		{Type: api.NamespaceFinalizersRemaining, Reason: "SomeFinalizersRemain",
			Message: "example.com/hold in 1 resource instances"},
		{Type: "Strange", Reason: "Strange", Message: "of another controller"},
	}
	for i := range all {
		all[i].Status = api.ConditionFalse
		for _, reason := range conditions {
			if all[i].Reason == reason {
				all[i].Status = api.ConditionTrue
			}
		}
	}
	return all
}

// A deletion is timed from its timestamp, however late this process has seen it. The requests of
// its Event carry the reconcile ID of their pass, also when that has ended.
func TestTheOutcomeOfADeletionIsRecorded(t *testing.T) {
	inBubble(t, func(s *stage) {
		trace := events.Deletions(s.recorder)
		trace.Enqueued(deleted("blue", "1"), 5*time.Second)
		red, began := deleted("red", "2"), api.NewTime(time.Now())
		red.DeletionTimestamp = &began
		time.Sleep(6200 * time.Millisecond)
		pass(trace, "blue")
		trace.Finalized("blue", nil)
		trace.Enqueued(deleted("blue", "1"), 0) // its last update arrives late
		time.Sleep(14*time.Minute - 6200*time.Millisecond)
		trace.Enqueued(red, 0)
		ctx, end := context.WithCancel(restclient.WithOrigin(context.Background(), "pass-7"))
		assert.Equal(t, ctx, trace.PassContext(ctx, "red"))
		end()
		trace.Finalized("red", nil)
		stored := s.events("default")
		assert.Equal(t, []string{
			"blue Normal NamespaceDeleted x1: Emptied and finalized within 6.2s, in 1 pass of this process",
			"red Normal NamespaceDeleted x1: Emptied and finalized within 14m0s, in 1 pass of this process",
		}, lines(stored))
		assert.Equal(t, api.ObjectReference{Kind: "Namespace", APIVersion: "v1", Name: "blue", UID: "1",
			ResourceVersion: "7"}, stored[0].InvolvedObject)
		assert.Equal(t, "pass-7", s.origins[len(s.origins)-1])
	})
}

// A namespace that hangs is examined every few seconds. The cause is recorded when it changes.
func TestAnObstacleIsReportedOnce(t *testing.T) {
	inBubble(t, func(s *stage) {
		trace := events.Deletions(s.recorder)
		trace.Enqueued(deleted("blue", "1"), 0)
		report := func(reasons ...string) {
			pass(trace, "blue")
			trace.ConditionsUpdated("blue", holds(reasons...))
			time.Sleep(10 * time.Second)
		}
		for range 5 {
			report("SomeResourcesRemain")
		}
		for range 5 {
			report("SomeResourcesRemain", "SomeFinalizersRemain")
		}
		report("ContentDeletionFailed")
		report("Strange")
		report()
		report("ContentDeletionFailed")
		trace.Finalized("blue", nil)
		assert.Equal(t, []string{
			"blue Normal NamespaceContentRemaining x1: pods. has 1 resource instances",
			"blue Warning NamespaceDeletionBlocked x1: pods. has 1 resource instances; example.com/hold in 1 " +
				"resource instances",
			"blue Warning NamespaceDeletionBlocked x2: secrets are forbidden",
			"blue Normal NamespaceDeleted x1: Emptied and finalized within 2m20s, in 14 passes of this process",
		}, lines(s.events("default")))
	})
}

func TestRefusedFinalizeIsReported(t *testing.T) {
	inBubble(t, func(s *stage) {
		trace := events.Deletions(s.recorder)
		trace.Enqueued(deleted("blue", "1"), 0)
		for range 3 {
			trace.Finalized("blue", fmt.Errorf("finalizing: %w",
				api.NewStatusError(api.Status{Code: 403, Message: "a webhook says no"})))
			trace.Finalized("blue", errors.New("the connection broke off"))
			trace.Finalized("blue", api.NewStatusError(api.Status{Code: 404, Reason: api.ReasonNotFound}))
		}
		assert.Equal(t,
			[]string{"blue Warning NamespaceFinalizingFailed x1: The namespace is empty, but it cannot be " +
				"finalized: a webhook says no"},
			lines(s.events("default")))
	})
}

// A new namespace with an old name is a different one. One that was never seen terminating has no
// Events.
func TestNamespacesAreDistinguishedByUID(t *testing.T) {
	inBubble(t, func(s *stage) {
		trace := events.Deletions(s.recorder)
		for _, uid := range []string{"1", "2"} {
			trace.Enqueued(deleted("blue", uid), 0)
			pass(trace, "blue")
			trace.ConditionsUpdated("blue", holds("SomeFinalizersRemain"))
			trace.Finalized("blue", nil)
		}
		trace.Finalized("stranger", nil)
		trace.ConditionsUpdated("stranger", holds("SomeFinalizersRemain"))
		stored := s.events("default")
		require.Len(t, stored, 4)
		assert.Equal(t, "2", stored[3].InvolvedObject.UID)
		assert.Contains(t, stored[3].Message, "in 1 pass")
	})
}
