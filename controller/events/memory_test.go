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
	for i := range 3 * remembered {
		event := &api.Event{InvolvedObject: api.ObjectReference{Name: fmt.Sprint(i)}, Message: "a", Count: 1}
		require.NotNil(t, c.correlate(event, time.Unix(1_000_000, 0)))
		require.LessOrEqual(t, max(len(c.seen), len(c.budgets)), remembered)
	}
}

// ends counts the Events about ends of deletions.
type ends int

func (e *ends) Event(_ context.Context, _ api.ObjectReference, _ api.EventType, reason, _ string) {
	if reason == ReasonDeleted {
		*e++
	}
}

// Deletions that have ended are forgotten before those that go on.
func TestRememberedDeletionsAreBounded(t *testing.T) {
	var found ends
	trace := Deletions(&found)
	namespace := func(i int) *api.Namespace {
		return &api.Namespace{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint(i), UID: fmt.Sprint(i)}}
	}
	trace.Enqueued(namespace(-1), 0)
	for i := range 2 * remembered {
		trace.Enqueued(namespace(i), 0)
		trace.Finalized(namespace(i).Name, nil)
		trace.Enqueued(namespace(i), 0) // its last update arrives late
	}
	trace.Finalized(namespace(-1).Name, nil)
	assert.EqualValues(t, 2*remembered+1, found)
}
