package informertest

import (
	"errors"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
)

// faults collects what OnError is told.
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
	{"a handler that panics skips the event and delays nobody else", func(b *bubble) {
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
			b.settle()
			time.Sleep(2 * time.Second) // client-go pauses for a second
		}
		want := []string{"add ns/a=1", "update ns/a 1->2", "update ns/a 2->3"}
		assert.Equal(b, want, good.Events())
		assert.Equal(b, want, bad.Events())
	}},
	{"a handler that panics over the first list (kubernetes/kubernetes#129024)", func(b *bubble) {
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
		b.settle()
		assert.Len(b, h.Events(), 2)
		assert.Equal(b, b.has(SyncsAfterPanic), registration.HasSynced())
	}},
	{"a late handler that panics over the store", func(b *bubble) {
		defer b.impl.SurvivePanics()()
		b.set("ns/a", "1")
		b.make(InformerConfig{})
		b.start()
		h, registration := b.handlerDuring(func(Event) { panic("a fault in a handler") })
		time.Sleep(time.Minute)
		b.settle()
		assert.Len(b, h.Events(), 1)
		assert.Equal(b, b.has(SyncsAfterPanic), registration.HasSynced())
	}},
	{"an object that the transform refuses is dropped", func(b *bubble) {
		var told faults
		b.make(InformerConfig{
			OnError: told.add,
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
		b.settle()
		b.set("ns/a", "bad")
		b.set("ns/b", "1")
		b.set("ns/a", "3")
		time.Sleep(relistDelay)
		b.settle()
		assert.ElementsMatch(b, []string{"add ns/a=1", "add ns/b=1", "update ns/a 1->3"}, h.Events())
		if b.has(ReportsProcessErrors) {
			assert.Len(b, told.all(), 1)
			assert.ErrorIs(b, told.all()[0], errRefused)
		} else {
			assert.Empty(b, told.all())
		}
	}},
	{"an object that an index function fails on", func(b *bubble) {
		defer b.impl.SurvivePanics()()
		var told faults
		b.make(InformerConfig{
			OnError: told.add,
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
		b.settle()
		b.set("ns/good", "1")
		time.Sleep(relistDelay)
		b.settle()
		if b.has(SurvivesIndexErrors) {
			assert.Equal(b, []string{"add ns/bad=1", "add ns/good=1"}, h.Events())
			assert.Len(b, told.all(), 1)
			assert.ErrorIs(b, told.all()[0], errRefused)
			assert.Equal(b, content(b.source), b.informer.Content())
		} else {
			assert.Equal(b, []string{"add ns/good=1"}, h.Events(), "it panics, and the event is lost")
			assert.Empty(b, told.all())
		}
	}},
	{"a list that fails is told, and tried again", func(b *bubble) {
		var told faults
		b.set("ns/a", "1")
		b.source.SetStreamingList(StreamingRefused)
		b.source.FailList(errRefused)
		b.make(InformerConfig{OnError: told.add})
		h := b.handler()
		b.start()
		assert.False(b, b.informer.HasSynced())
		time.Sleep(relistDelay)
		b.settle()
		assert.True(b, b.informer.HasSynced())
		assert.Equal(b, []string{"add ns/a=1 (initial)"}, h.Events())
		assert.Len(b, told.all(), 1)
		assert.ErrorIs(b, told.all()[0], errRefused)
	}},
}
