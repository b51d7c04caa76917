package informertest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

// bubble is the environment of one case: a source, an informer and the time, all of which end with
// the case.
type bubble struct {
	*testing.T
	impl     Implementation
	source   *Source
	informer Informer
	cancel   context.CancelFunc
	returned chan struct{} // closed when Run has returned; nil before start
	latches  []latch
}

func inBubble(t *testing.T, impl Implementation, run func(b *bubble)) {
	synctest.Test(t, func(t *testing.T) { run(newBubble(t, impl)) })
}

// newBubble returns a new bubble with an informer without options.
func newBubble(t *testing.T, impl Implementation) *bubble {
	b := &bubble{T: t, impl: impl, source: NewContractSource()}
	b.make(InformerConfig{})
	return b
}

// NewContractSource returns an empty source for the informers of the contract.
func NewContractSource() *Source {
	return NewFakeSource(func(obj *api.PartialObjectMetadata, resourceVersion string) *api.PartialObjectMetadata {
		stamped := *obj
		stamped.ResourceVersion = resourceVersion
		return &stamped
	})
}

// has reports whether the implementation has the capability, and logs the reason if not.
func (b *bubble) has(c Capability) bool {
	reason, lacks := b.impl.Lacks[c]
	if lacks {
		b.Logf("without %q: %s", c, reason)
	}
	return !lacks
}

// make creates the informer with other options.
func (b *bubble) make(cfg InformerConfig) { b.informer = b.impl.New(b, b.source, cfg) }

// start runs the informer until stop or the end of the case.
func (b *bubble) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.returned = make(chan struct{})
	go func() {
		defer close(b.returned)
		_ = b.informer.Run(ctx)
	}()
	b.Cleanup(func() {
		for _, l := range b.latches {
			l.open() // if the case failed before it did
		}
		b.stop()
	})
	synctest.Wait()
}

// stop ends the informer and waits for it.
func (b *bubble) stop() {
	b.cancel()
	b.await(b.returned,
		"Run has not returned an hour after its context ended: a goroutine of the informer does not end")
}

// await waits until done is closed, for an hour of virtual time.
func (b *bubble) await(done <-chan struct{}, otherwise string) {
	b.Helper()
	select {
	case <-done:
	case <-time.After(time.Hour):
		b.Fatal(otherwise)
	}
}

// handler adds a recorder to the informer, without resync.
func (b *bubble) handler() *Recorder {
	r, _ := b.handlerDuring(nil)
	return r
}

func (b *bubble) handlerDuring(during func(e Event)) (*Recorder, Registration) {
	r := &Recorder{During: during}
	registration, err := b.informer.AddEventHandler(r.Handle, -1)
	assert.NoError(b, err)
	return r, registration
}

// replay replays a handler's events by the rules for the implementation.
func (b *bubble) replay(r *Recorder) (map[string]string, error) {
	_, merges := b.impl.Lacks[EveryChange]
	return r.Replay(merges)
}

// leadsTo asserts that a handler received these events; or, if the implementation may merge waiting
// events, a consistent history that ends in the state of the source.
func (b *bubble) leadsTo(events []string, r *Recorder, explain ...any) {
	b.Helper()
	if b.has(EveryChange) {
		if difference := firstDifference(events, r.Events()); difference != "" {
			assert.Fail(b, difference, explain...)
		}
		return
	}
	got, err := b.replay(r)
	assert.NoError(b, err, explain...)
	assert.Equal(b, content(b.source), got, explain...)
	assert.LessOrEqual(b, len(r.Events()), len(events), explain...)
}

// firstDifference describes where got departs from want, or is empty.
func firstDifference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("want %d events, got %d: event %d, %q, is missing", len(want), len(got), i, want[i])
		case i >= len(want):
			return fmt.Sprintf("want %d events, got %d: event %d, %q, is too many", len(want), len(got), i, got[i])
		case want[i] != got[i]:
			return fmt.Sprintf("event %d of %d: want %q, got %q", i, len(want), want[i], got[i])
		}
	}
	return ""
}

// set gives the object with the key this value.
func (b *bubble) set(key, value string) { setObject(b.source, key, value) }

func setObject(source *Source, key, value string) {
	obj := &api.PartialObjectMetadata{}
	if obj.Name = key; strings.Contains(key, "/") {
		obj.Namespace, obj.Name, _ = strings.Cut(key, "/")
	}
	obj.Labels = map[string]string{ValueLabel: value}
	if _, known := source.Objects()[key]; known {
		source.Modify(obj)
	} else {
		source.Add(obj)
	}
}

// relistDelay is longer than the first back-off of any reflector.
const relistDelay = 5 * time.Second

// unseen changes the collection while the informer is disconnected for so long that it must list
// again.
func (b *bubble) unseen(change func()) {
	release := b.disconnect()
	change()
	b.relist(release)
}

// disconnect ends the watches; requests wait until release is called.
func (b *bubble) disconnect() (release func()) {
	release = b.source.Hold()
	b.source.Cut(nil)
	synctest.Wait()
	return release
}

// relist lets requests be answered, and makes the position of the informer older than the history.
func (b *bubble) relist(release func()) {
	b.source.AdvanceVersion()
	b.source.Expire()
	release()
	time.Sleep(relistDelay)
	synctest.Wait()
}

// waitIdle waits until every goroutine in the bubble is durably blocked.
func (b *bubble) waitIdle() { synctest.Wait() }

// content returns the content of the source.
func content(source *Source) map[string]string {
	out := map[string]string{}
	for key, obj := range source.Objects() {
		out[key] = obj.Labels[ValueLabel]
	}
	return out
}

// latch blocks callbacks until it is opened, at the latest at the end of the case.
type latch struct {
	opened chan struct{}
	once   *sync.Once
}

func (b *bubble) newLatch() latch {
	l := latch{make(chan struct{}), new(sync.Once)}
	b.latches = append(b.latches, l)
	return l
}

func (l latch) wait() { <-l.opened }

func (l latch) open() { l.once.Do(func() { close(l.opened) }) }

// Event is an event that a handler of the contract received.
type Event struct {
	Kind     string // "add", "update" or "delete"
	Key      string
	Old, New string // values; an addition has only New, a deletion only Old
	// InitialList is isInInitialList of an addition.
	InitialList bool
	// FinalStateUnknown: the deletion was inferred.
	FinalStateUnknown bool
}

// String formats the event as in the expectations of the contract: "add ns/a=1 (initial)", "update
// ns/a 1->2", "delete ns/a=2 (unknown)".
func (e Event) String() string {
	switch e.Kind {
	case "add":
		return fmt.Sprintf("add %s=%s%s", e.Key, e.New, mark(e.InitialList, "initial"))
	case "update":
		return fmt.Sprintf("update %s %s->%s", e.Key, e.Old, e.New)
	}
	return fmt.Sprintf("%s %s=%s%s", e.Kind, e.Key, e.Old, mark(e.FinalStateUnknown, "unknown"))
}

func mark(on bool, text string) string {
	if on {
		return " (" + text + ")"
	}
	return ""
}

// Recorder is a handler that records its events.
type Recorder struct {
	// During, if not nil, is called in each callback after the event was recorded. Set it before
	// adding the handler.
	During func(e Event)

	mu     sync.Mutex // guards the fields below
	events []Event
	active bool
	nested bool // two callbacks ran at the same time
}

// Handle is the handler.
func (r *Recorder) Handle(e Event) {
	r.mu.Lock()
	r.nested = r.nested || r.active
	r.active = true
	r.events = append(r.events, e)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.active = false
		r.mu.Unlock()
	}()
	if r.During != nil {
		r.During(e)
	}
}

// Events returns the events since the beginning or the last Reset, as text.
func (r *Recorder) Events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, len(r.events))
	for i, e := range r.events {
		out[i] = e.String()
	}
	return out
}

// Reset drops the recorded events.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

// Replay applies the history to an empty store and returns it, or an error if the history is
// inconsistent: an addition of a present object, an update or a deletion of a missing object or
// from another state, or two concurrent callbacks. Resyncs are consistent. If events may be merged,
// a deletion may have another last state than the handler has received.
func (r *Recorder) Replay(merged bool) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nested {
		return nil, fmt.Errorf("two callbacks of one handler ran at the same time")
	}
	content := map[string]string{}
	for i, e := range r.events {
		value, known := content[e.Key]
		switch {
		case e.Kind == "add" && !known, e.Kind == "update" && known && value == e.Old:
			content[e.Key] = e.New
		case e.Kind == "delete" && known && (merged || value == e.Old):
			delete(content, e.Key)
		default:
			return nil, fmt.Errorf("event %d, %v, is inconsistent with the state %q (known: %v)", i, e, value, known)
		}
	}
	return maps.Clone(content), nil
}
