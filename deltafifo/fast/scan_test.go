package fast_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

// readWhile is a store that calls happens during a scan: after the keys were listed and before an
// object is looked up.
type readWhile struct {
	*deltafifotest.Consumer
	happens func()
}

func (r *readWhile) ListKeys() []string {
	keys := r.Consumer.ListKeys()
	if happens := r.happens; happens != nil {
		r.happens = nil
		happens()
	}
	return keys
}

// Replace and Resync read the store without a lock. These tests let a consumer take keys just then,
// so that the result of the scan is outdated when it is used.
func TestConsumersGoOnWhileTheStoreIsRead(t *testing.T) {
	for _, test := range []struct {
		name   string
		known  []*object
		before func(*fast.DeltaFIFO[*object]) error
		pops   int // while the store is read
		call   func(*fast.DeltaFIFO[*object]) error
		want   []string
	}{
		{
			name:   "a list deletes an object added to the store meanwhile",
			before: func(q *fast.DeltaFIFO[*object]) error { return q.Add(obj("a", 1)) },
			pops:   1,
			call:   func(q *fast.DeltaFIFO[*object]) error { return q.Replace(nil, "1") },
			want:   []string{"a: Deleted a@1 (inferred)"},
		},
		{
			name:   "a list does not delete an object removed meanwhile",
			known:  []*object{obj("a", 1)},
			before: func(q *fast.DeltaFIFO[*object]) error { return q.Delete(obj("a", 1)) },
			pops:   1,
			call:   func(q *fast.DeltaFIFO[*object]) error { return q.Replace([]*object{obj("b", 1)}, "1") },
			want:   []string{"b: Replaced b@1"},
		},
		{
			name:   "a tombstone has the store's present state",
			known:  []*object{obj("a", 1)},
			before: func(q *fast.DeltaFIFO[*object]) error { return q.Update(obj("a", 2)) },
			pops:   1,
			call:   func(q *fast.DeltaFIFO[*object]) error { return q.Replace(nil, "1") },
			want:   []string{"a: Deleted a@2 (inferred)"},
		},
		{
			name:   "a listed object is not deleted although it was taken",
			before: func(q *fast.DeltaFIFO[*object]) error { return q.Add(obj("a", 1)) },
			pops:   1,
			call:   func(q *fast.DeltaFIFO[*object]) error { return q.Replace([]*object{obj("a", 2)}, "1") },
			want:   []string{"a: Replaced a@2"},
		},
		{
			name:   "a resync does not queue the old state",
			known:  []*object{obj("a", 1), obj("b", 1)},
			before: func(q *fast.DeltaFIFO[*object]) error { return q.Update(obj("a", 2)) },
			pops:   1,
			call:   func(q *fast.DeltaFIFO[*object]) error { return q.Resync() },
			want:   []string{"b: Sync b@1"},
		},
		{
			name:   "a resync does not restore a deleted object",
			known:  []*object{obj("a", 1)},
			before: func(q *fast.DeltaFIFO[*object]) error { return q.Delete(obj("a", 2)) },
			pops:   1,
			call:   func(q *fast.DeltaFIFO[*object]) error { return q.Resync() },
			want:   []string{},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := &readWhile{Consumer: deltafifotest.NewConsumer(test.known...)}
			queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
			require.NoError(t, test.before(queue))
			store.happens = func() {
				for range test.pops {
					_, err := queue.Pop(store.Process)
					require.NoError(t, err)
				}
			}
			require.NoError(t, test.call(queue))
			assert.False(t, queue.Reading(), "taken keys would be recorded forever")
			assert.Equal(t, test.want, waiting(t, queue))
		})
	}
}

// The key is in flight when the scan begins and reaches the store during the scan.
func TestInFlightWhenTheReadingBegan(t *testing.T) {
	store := &readWhile{Consumer: deltafifotest.NewConsumer()}
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
	require.NoError(t, queue.Add(obj("a", 1)))

	taken, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = queue.Pop(func(key string, d deltas, initial bool) error {
			close(taken)
			<-goOn
			return store.Process(key, d, initial)
		})
	}()
	<-taken
	store.happens = func() {
		close(goOn)
		<-done
	}
	require.NoError(t, queue.Replace(nil, "1"))
	assert.Equal(t, []string{"a: Deleted a@1 (inferred)"}, waiting(t, queue))
}

// A store that panics must leave the queue usable.
func TestAStoreThatPanicsWhileItIsRead(t *testing.T) {
	store := &readWhile{Consumer: deltafifotest.NewConsumer(obj("a", 1))}
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store})
	store.happens = func() { panic("boom") }
	assert.PanicsWithValue(t, "boom", func() { _ = queue.Replace(nil, "1") })
	assert.False(t, queue.Reading())
	require.NoError(t, queue.Resync())
	assert.Equal(t, []string{"a: Sync a@1"}, waiting(t, queue))
}
