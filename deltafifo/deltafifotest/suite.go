package deltafifotest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

// Run puts the implementation through the contract, one subtest per behaviour.
func Run(t *testing.T, impl Implementation) {
	t.Helper()
	for c, reason := range impl.Lacks {
		require.Contains(t, Capabilities, c, "an unknown capability")
		require.NotEmpty(t, reason, "why is %s lacking?", c)
	}
	for _, group := range []struct {
		name  string
		tests []behaviour
	}{
		{"Order", orderTests},
		{"Replace", replaceTests},
		{"Resync", resyncTests},
		{"Synced", syncedTests},
		{"Pop", popTests},
		{"During", duringTests},
		{"Errors", errorTests},
		{"Blocked", blockedTests},
		{"Looking", lookingTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, b := range group.tests {
				t.Run(b.name, func(t *testing.T) { b.test(t, impl) })
			}
		})
	}
}

type behaviour struct {
	name string
	test func(t *testing.T, impl Implementation)
}

// rig is a queue with a consumer behind it, and the short words in which the tests are written.
type rig struct {
	t        *testing.T
	impl     Implementation
	queue    Queue
	consumer *Consumer
}

// newRig returns an empty queue before a consumer that knows these objects.
func newRig(t *testing.T, impl Implementation, known ...*Object) *rig {
	c := NewConsumer(known...)
	return &rig{
		t:        t,
		impl:     impl,
		consumer: c,
		queue:    impl.New(deltafifo.Config[*Object]{KeyFunc: KeyFunc, KnownObjects: c}),
	}
}

// newBlindRig is newRig without known objects.
func newBlindRig(t *testing.T, impl Implementation) *rig {
	return &rig{
		t:        t,
		impl:     impl,
		consumer: NewConsumer(),
		queue:    impl.New(deltafifo.Config[*Object]{KeyFunc: KeyFunc}),
	}
}

func (r *rig) add(name string, version int) {
	r.t.Helper()
	assert.NoError(r.t, r.queue.Add(Obj(name, version)))
}

func (r *rig) update(name string, version int) {
	r.t.Helper()
	assert.NoError(r.t, r.queue.Update(Obj(name, version)))
}

func (r *rig) delete(name string, version int) {
	r.t.Helper()
	assert.NoError(r.t, r.queue.Delete(Obj(name, version)))
}

func (r *rig) replace(items ...*Object) {
	r.t.Helper()
	assert.NoError(r.t, r.queue.Replace(items, "1"))
}

func (r *rig) resync() {
	r.t.Helper()
	assert.NoError(r.t, r.queue.Resync())
}

// longest is how long a call that must not block may take on the busiest machine.
const longest = 30 * time.Second

// take is Pop. It panics with the name of the test if Pop blocks for ever, and asserts what holds for
// all deltas that are handed out.
func (r *rig) take(process func(key string, d deltafifo.Deltas[*Object], isInInitialList bool) error) (deltafifo.Deltas[*Object], error) {
	blocked := time.AfterFunc(longest, func() {
		panic(r.t.Name() + ": Pop blocks and hands out nothing")
	})
	defer blocked.Stop()
	return r.queue.Pop(func(key string, d deltafifo.Deltas[*Object], initial bool) error {
		blocked.Stop()
		assert.NotEmpty(r.t, d, "Pop handed out the key %q without deltas", key)
		for _, delta := range d {
			switch {
			case delta.Tombstone != nil:
				assert.Equal(r.t, deltafifo.Deleted, delta.Type, "a tombstone is a deletion")
				assert.Equal(r.t, key, delta.Tombstone.Key, "the tombstone has the key of another object")
				assert.Same(r.t, delta.Object, delta.Tombstone.Obj, "the tombstone of %q has another object than its delta", key)
			case delta.Object.Name != key:
				assert.Fail(r.t, "an object was handed out under the key of another one", "%s under %q", delta.Object, key)
			}
		}
		return process(key, d, initial)
	})
}

// pop hands one key to the consumer and returns what it got, as text: "a: Added a@1".
func (r *rig) pop() string {
	r.t.Helper()
	return r.popDuring(func() {})
}

// popDuring is pop, with something that happens while the deltas are being processed and the store
// does not show them yet.
func (r *rig) popDuring(during func()) string {
	r.t.Helper()
	text := ""
	_, err := r.take(func(key string, d deltafifo.Deltas[*Object], initial bool) error {
		text = key + ": " + DescribeAll(d)
		during()
		return r.consumer.Process(key, d, initial)
	})
	require.NoError(r.t, err)
	return text
}

// popFailing is Pop with a process function that leaves the store alone and returns err.
func (r *rig) popFailing(err error) (deltafifo.Deltas[*Object], error) {
	return r.take(func(string, deltafifo.Deltas[*Object], bool) error { return err })
}

// drain closes the queue and returns everything that it still hands out.
func (r *rig) drain() []string {
	r.t.Helper()
	r.queue.Close()
	texts := []string{}
	for {
		_, err := r.take(func(key string, d deltafifo.Deltas[*Object], initial bool) error {
			texts = append(texts, key+": "+DescribeAll(d))
			return r.consumer.Process(key, d, initial)
		})
		if errors.Is(err, deltafifo.ErrFIFOClosed) {
			return texts
		}
		require.NoError(r.t, err)
	}
}

// expect asserts what waits, in order, and ends the queue. Without Accumulation it asserts what each
// key is told in all; suite_order.go is about the order between keys.
func (r *rig) expect(want ...string) {
	r.t.Helper()
	if !r.impl.has(r.t, Accumulation) {
		r.expectAnyOrder(want...)
		return
	}
	if want == nil {
		want = []string{}
	}
	assert.Equal(r.t, want, r.drain())
}

// expectAnyOrder is expect where the order between keys is the store's, which has none.
func (r *rig) expectAnyOrder(want ...string) {
	r.t.Helper()
	assert.ElementsMatch(r.t, want, byKey(r.drain()))
}

// byKey joins what was told about each key: "a: Added a@1" and "a: Updated a@2" are
// "a: Added a@1, Updated a@2".
func byKey(told []string) []string {
	at, joined := map[string]int{}, []string{}
	for _, text := range told {
		key, deltas, _ := strings.Cut(text, ": ")
		if i, again := at[key]; again {
			joined[i] += ", " + deltas
			continue
		}
		at[key] = len(joined)
		joined = append(joined, text)
	}
	return joined
}

// expectArrival asserts what waits, in order: with Accumulation and without it.
func (r *rig) expectArrival(accumulated, arrived []string) {
	r.t.Helper()
	if r.impl.has(r.t, Accumulation) {
		assert.Equal(r.t, accumulated, r.drain())
	} else {
		assert.Equal(r.t, arrived, r.drain())
	}
}
