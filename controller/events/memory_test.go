package events

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// The recorder's memory is bounded, however many Events are recorded.
func TestMemoryIsBounded(t *testing.T) {
	c := newCorrelator()
	now := time.Unix(1_000_000, 0)
	for i := range 3 * remembered {
		for _, message := range []string{"a", "b"} {
			event := &api.Event{InvolvedObject: api.ObjectReference{Name: fmt.Sprint(i)}, Message: message, Count: 1}
			require.NotNil(t, c.correlate(event, now))
			require.LessOrEqual(t, len(c.seen), remembered)
			require.LessOrEqual(t, len(c.budgets), remembered)
		}
	}
}

// ends counts the Events about ends of deletions.
type ends int

func (e *ends) Event(_ context.Context, _ api.ObjectReference, _ api.EventType, reason, _ string) {
	if reason == ReasonDeleted {
		*e++
	}
}

// Deletions that have ended are forgotten before those that go on, and memory is bounded even if
// no deletion ends.
func TestRememberedDeletionsAreBounded(t *testing.T) {
	var found ends
	d := newDeletions(&found)
	namespace := func(i int) *api.Namespace {
		return &api.Namespace{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint(i), UID: fmt.Sprint(i)}}
	}
	d.enqueued(namespace(-1), 0)
	for i := range 2 * manyDeletions {
		d.enqueued(namespace(i), 0)
		d.finalized(namespace(i).Name, nil)
		d.enqueued(namespace(i), 0) // its last update arrives late
		require.LessOrEqual(t, len(d.known), manyDeletions)
	}
	d.finalized(namespace(-1).Name, nil)
	assert.EqualValues(t, 2*manyDeletions+1, found)
	for i := range 2 * manyDeletions {
		d.enqueued(namespace(-i), 0)
		require.LessOrEqual(t, len(d.known), manyDeletions)
	}
}
