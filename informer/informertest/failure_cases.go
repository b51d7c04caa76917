package informertest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faults collects the errors passed to OnError.
type faults struct {
	mu   sync.Mutex
	errs []error
}

func (f *faults) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs = append(f.errs, err)
}

func (f *faults) all() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errs
}

var errRefused = errors.New("refused by the test")

// refuse returns a transform that refuses the value "bad", and every value while all returns true.
func refuse(all func() bool) func(value string) (string, error) {
	return func(value string) (string, error) {
		if value == "bad" || all() {
			return "", errRefused
		}
		return value, nil
	}
}

func never() bool { return false }

var failureCases = []contractCase{
	{"a handler that panics skips the event and delays no other", func(b *bubble) {
		defer b.impl.SurvivePanics()()
		bad, _ := b.handlerDuring(func(e Event) {
			if e.New == "2" {
				panic("a fault in a handler")
			}
		})
		good := b.handler()
		b.start()
		for _, value := range []string{"1", "2", "3"} {
			b.set("ns/a", value)
			b.waitIdle()
			time.Sleep(2 * time.Second) // client-go pauses for a second
		}
		want := []string{"add ns/a=1", "update ns/a 1->2", "update ns/a 2->3"}
		assert.Equal(b, want, good.Events())
		assert.Equal(b, want, bad.Events())
	}},
	{"a handler that panics on the first list (kubernetes/kubernetes#129024)", func(b *bubble) {
		defer b.impl.SurvivePanics()()
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		h, registration := b.handlerDuring(func(e Event) {
			if e.Key == "ns/a" {
				panic("a fault in a handler")
			}
		})
		b.start()
		time.Sleep(time.Minute)
		b.waitIdle()
		assert.Len(b, h.Events(), 2)
		assert.Equal(b, b.has(SyncsAfterPanic), registration.HasSynced())
	}},
	{"a handler added later that panics on its initial content", func(b *bubble) {
		defer b.impl.SurvivePanics()()
		b.set("ns/a", "1")
		b.start()
		h, registration := b.handlerDuring(func(Event) { panic("a fault in a handler") })
		time.Sleep(time.Minute)
		b.waitIdle()
		assert.Len(b, h.Events(), 1)
		assert.Equal(b, b.has(SyncsAfterPanic), registration.HasSynced())
	}},
	{"a callback that ends its goroutine ends nothing else", func(b *bubble) {
		g := b.newLatch()
		_, leaving := b.handlerDuring(func(Event) {
			g.wait()
			runtime.Goexit()
		})
		stays := b.handler()
		b.start()
		b.set("ns/a", "1")
		want := []string{"add ns/a=1"}
		if b.has(HandlersMayExit) {
			b.set("ns/b", "1") // waits for the handler
			want = append(want, "add ns/b=1")
		}
		b.waitIdle()
		g.open()
		b.waitIdle()
		if b.has(HandlersMayExit) {
			b.set("ns/c", "1")
			b.waitIdle()
			want = append(want, "add ns/c=1")
		}
		assert.Equal(b, want, stays.Events(), "the other handler receives everything")
		assert.NoError(b, b.informer.RemoveEventHandler(leaving))
		b.stop()
	}},
	{"an object that the transform refuses is dropped", func(b *bubble) {
		var reported faults
		b.make(InformerConfig{
			OnError:   reported.add,
			Transform: refuse(never),
		})
		h := b.handler()
		b.start()
		b.set("ns/a", "1")
		b.waitIdle()
		b.set("ns/a", "bad")
		b.set("ns/b", "1")
		b.set("ns/a", "3")
		time.Sleep(relistDelay)
		b.waitIdle()
		assert.ElementsMatch(b, []string{"add ns/a=1", "add ns/b=1", "update ns/a 1->3"}, h.Events())
		if b.has(ReportsProcessErrors) {
			require.Len(b, reported.all(), 1)
			assert.ErrorIs(b, reported.all()[0], errRefused)
		} else {
			assert.Empty(b, reported.all())
		}
	}},
	{"a deletion whose object the transform refuses", func(b *bubble) {
		var reported faults
		var refusing atomic.Bool
		b.set("ns/a", "1")
		b.make(InformerConfig{OnError: reported.add, Transform: refuse(refusing.Load)})
		h := b.handler()
		b.start()
		b.set("ns/b", "1")
		b.waitIdle()
		refusing.Store(true)
		b.source.Delete("ns/a")
		b.source.Delete("ns/b")
		b.waitIdle()
		refusing.Store(false)
		b.set("ns/a", "2")
		b.waitIdle()
		want := []string{"add ns/a=1 (initial)", "add ns/b=1"}
		if b.has(SkipsRefused) {
			want = append(want, "delete ns/a=1 (unknown)", "delete ns/b=1 (unknown)", "add ns/a=2")
		} else {
			want = append(want, "update ns/a 1->2")
		}
		assert.Equal(b, want, h.Events())
		if b.has(ReportsProcessErrors) {
			assert.Len(b, reported.all(), 2)
		}
	}},
	{"the first list has objects that are refused", func(b *bubble) {
		for _, streaming := range []StreamingList{StreamingSupported, StreamingRefused} {
			b := newBubble(b.T, b.impl)
			b.source.SetStreamingList(streaming)
			var reported faults
			b.set("ns/a", "1")
			b.set("ns/bad", "bad")
			b.set("", "of an object without a name")
			b.set("ns/z", "1")
			b.make(InformerConfig{OnError: reported.add, Transform: refuse(never)})
			h, registration := b.handlerDuring(nil)
			b.start()
			time.Sleep(time.Minute)
			b.waitIdle()
			if !b.has(SkipsRefused) {
				b.stop()
				continue
			}
			assert.True(b, b.informer.HasSynced(), "two refused objects keep the informer unsynced")
			assert.True(b, registration.HasSynced(), "two refused objects keep the handler unsynced")
			assert.ElementsMatch(b, []string{"add ns/a=1 (initial)", "add ns/z=1 (initial)"}, h.Events())
			if b.has(ReportsProcessErrors) {
				assert.NotEmpty(b, reported.all())
			}
			b.set("ns/bad", "1")
			b.waitIdle()
			assert.Equal(b, "1", b.informer.Content()["ns/bad"], "the next state of the object is accepted")
			b.stop()
		}
	}},
	{"an object that a later list has and the transform refuses keeps its state", func(b *bubble) {
		if !b.has(SkipsRefused) {
			return // the list is refused as a whole
		}
		var reported faults
		b.set("ns/a", "1")
		b.set("ns/b", "1")
		b.set("ns/c", "1")
		b.make(InformerConfig{OnError: reported.add, Transform: refuse(never)})
		h := b.handler()
		b.start()
		h.Reset()
		b.unseen(func() {
			b.set("ns/a", "bad")
			b.source.Delete("ns/b")
			b.set("ns/c", "2")
			b.set("", "of an object without a name")
		})
		assert.ElementsMatch(b, []string{"delete ns/b=1 (unknown)", "update ns/c 1->2"}, h.Events())
		assert.Equal(b, map[string]string{"ns/a": "1", "ns/c": "2"}, b.informer.Content())
		h.Reset()
		b.source.Delete("")
		b.set("ns/a", "3")
		b.waitIdle()
		b.source.Delete("ns/a")
		b.waitIdle()
		assert.Equal(b, []string{"update ns/a 1->3", "delete ns/a=3"}, h.Events())
	}},
	// Defect 8.12 of client-go: it panics with the lock of the store held.
	{"an object for which an index function fails", func(b *bubble) {
		defer b.impl.SurvivePanics()()
		var reported faults
		b.make(InformerConfig{
			OnError: reported.add,
			Index: func(key string) error {
				if key == "ns/bad" {
					return errRefused
				}
				return nil
			},
		})
		h := b.handler()
		b.start()
		b.set("ns/bad", "1")
		b.waitIdle()
		b.set("ns/good", "1")
		time.Sleep(relistDelay)
		b.waitIdle()
		if b.has(SurvivesIndexErrors) {
			assert.Equal(b, []string{"add ns/bad=1", "add ns/good=1"}, h.Events())
			require.Len(b, reported.all(), 1)
			assert.ErrorIs(b, reported.all()[0], errRefused)
			assert.Equal(b, content(b.source), b.informer.Content())
		} else {
			assert.Equal(b, []string{"add ns/good=1"}, h.Events(), "the index function panics, and the event is lost")
			assert.Empty(b, reported.all())
		}
	}},
	{"a failed list is reported and retried", func(b *bubble) {
		var reported faults
		b.set("ns/a", "1")
		b.source.SetStreamingList(StreamingRefused)
		b.source.FailList(errRefused)
		b.make(InformerConfig{OnError: reported.add})
		h := b.handler()
		b.start()
		assert.False(b, b.informer.HasSynced())
		time.Sleep(relistDelay)
		b.waitIdle()
		assert.True(b, b.informer.HasSynced())
		assert.Equal(b, []string{"add ns/a=1 (initial)"}, h.Events())
		require.Len(b, reported.all(), 1)
		assert.ErrorIs(b, reported.all()[0], errRefused)
	}},
}
