package informertest

import (
	"errors"
	"runtime"
	"sync"
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

var failureCases = []contractCase{
	{"a handler that panics skips the event and delays no other", func(b *bubble) {
		defer b.impl.SurvivePanics()()
		b.make(InformerConfig{})
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
		b.make(InformerConfig{})
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
		b.make(InformerConfig{})
		b.start()
		h, registration := b.handlerDuring(func(Event) { panic("a fault in a handler") })
		time.Sleep(time.Minute)
		b.waitIdle()
		assert.Len(b, h.Events(), 1)
		assert.Equal(b, b.has(SyncsAfterPanic), registration.HasSynced())
	}},
	{"a callback that ends its goroutine ends nothing else", func(b *bubble) {
		b.make(InformerConfig{})
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
			OnError: reported.add,
			Transform: func(value string) (string, error) {
				if value == "bad" {
					return "", errRefused
				}
				return value, nil
			},
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
