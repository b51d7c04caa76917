package informertest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
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

var failureCases = append(cases([]script{
	{name: "a handler that panics skips the event and delays no other", handlers: "panics never",
		steps: "set ns/a 1; set ns/a bad; after 2s; set ns/a 3; after 2s", // client-go pauses for a second
		want: "add ns/a=1; update ns/a 1->bad; update ns/a bad->3 | " +
			"add ns/a=1; update ns/a 1->bad; update ns/a bad->3"},
	{name: "a handler that panics on the first list (kubernetes/kubernetes#129024)", handlers: "panics",
		before: "set ns/a bad; set ns/b 1", steps: "after 1m; panicked 0", anyOrder: true,
		want: "add ns/a=bad (initial); add ns/b=1 (initial)"},
	{name: "a handler added later that panics on its initial content",
		before: "set ns/a bad", steps: "join panics; after 1m; panicked 0",
		want: "add ns/a=bad (initial)"},
	{name: "an object that the transform refuses is dropped", refuse: true,
		steps: "set ns/a 1; set ns/a bad; set ns/b 1; set ns/a 3; after 5s",
		want:  "add ns/a=1; add ns/b=1; update ns/a 1->3", reported: 1},
	{name: "a deletion whose object the transform refuses", refuse: true,
		before: "set ns/a 1", steps: "set ns/b 1; refuse; delete ns/a; delete ns/b; accept; set ns/a 2", reported: 2,
		want:    "add ns/a=1 (initial); add ns/b=1; delete ns/a=1 (unknown); delete ns/b=1 (unknown); add ns/a=2",
		without: SkipsRefused, instead: "add ns/a=1 (initial); add ns/b=1; update ns/a 1->2"},
	{name: "an object that a later list has and the transform refuses keeps its state", needs: SkipsRefused,
		before: "set ns/a 1", refuse: true, reported: 1,
		steps: "set ns/b 1; set ns/c 1; disconnect; set ns/a bad; delete ns/b; set ns/c 2; relist; " +
			"holds ns/a=1 ns/c=2; set ns/a 3; delete ns/a", anyOrder: true,
		want: "add ns/a=1 (initial); add ns/b=1; add ns/c=1; delete ns/b=1 (unknown); update ns/c 1->2; " +
			"update ns/a 1->3; delete ns/a=3"},
	// Defect 8.12 of client-go: it panics with the lock of the store held.
	{name: "an object for which an index function fails", refuse: true,
		steps: "set ns/bad 1; set ns/good 1; after 5s",
		want:  "add ns/bad=1; add ns/good=1", reported: 1,
		without: SurvivesIndexErrors, instead: "add ns/good=1"}, // the index function panics, and the event is lost
	{name: "a failed list is reported and retried",
		before: "set ns/a 1; fail", steps: "unsynced; after 5s; synced",
		want: "add ns/a=1 (initial)", reported: 1},
}), []contractCase{
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
	{"the first list has objects that are refused", func(b *bubble) {
		for _, streaming := range []StreamingList{StreamingSupported, StreamingRefused} {
			b := newBubble(b.T, b.impl)
			b.source.Change(func(b *Behaviour) { b.Streaming = streaming })
			var reported faults
			b.set("ns/a", "1")
			b.set("ns/bad", "bad")
			b.set("", "of an object without a name")
			b.set("ns/z", "1")
			b.make(InformerConfig{OnError: reported.add, Transform: refuse(new(atomic.Bool).Load)})
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
}...)
