package informertest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

// bubble is the world of one case: a source, an informer and the time, all of which end with the case.
type bubble struct {
	*testing.T
	impl     Implementation
	source   *Source
	informer Informer
	cancel   context.CancelFunc
	returned chan struct{} // closed when Run has returned; nil before start
}

func inBubble(t *testing.T, impl Implementation, run func(b *bubble)) {
	synctest.Test(t, func(t *testing.T) { run(newBubble(t, impl)) })
}

func newBubble(t *testing.T, impl Implementation) *bubble {
	return &bubble{T: t, impl: impl, source: NewContractSource()}
}

// NewContractSource returns an empty source for the informers of the contract.
func NewContractSource() *Source {
	return NewFakeSource(func(obj *api.PartialObjectMetadata, resourceVersion string) *api.PartialObjectMetadata {
		stamped := *obj
		stamped.ResourceVersion = resourceVersion
		return &stamped
	})
}

// has tells whether the implementation has the capability, and puts the reason into the log if not.
func (b *bubble) has(c Capability) bool {
	reason, lacks := b.impl.Lacks[c]
	if lacks {
		b.Logf("without %q: %s", c, reason)
	}
	return !lacks
}

// make makes the informer.
func (b *bubble) make(cfg InformerConfig) Informer {
	b.informer = b.impl.New(b, b.source, cfg)
	return b.informer
}

// start runs the informer until the case ends, or stop.
func (b *bubble) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.returned = make(chan struct{})
	go func() {
		defer close(b.returned)
		_ = b.informer.Run(ctx)
	}()
	b.Cleanup(b.stop)
	synctest.Wait()
}

// stop ends the informer and waits for it.
func (b *bubble) stop() {
	b.cancel()
	<-b.returned
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

func (b *bubble) resyncing(period time.Duration) *Recorder {
	r := &Recorder{}
	_, err := b.informer.AddEventHandler(r.Handle, period)
	assert.NoError(b, err)
	return r
}

// replay plays what a handler was told, by the rules that hold for the implementation.
func (b *bubble) replay(r *Recorder) (map[string]string, error) {
	if _, merges := b.impl.Lacks[EveryChange]; merges {
		return r.ReplayMerged()
	}
	return r.Replay()
}

// leadsTo asserts that a handler was told these events; or, if the implementation may merge what waits, a history that
// makes sense and leads to the state of the source.
func (b *bubble) leadsTo(events []string, r *Recorder, explain ...any) {
	b.Helper()
	if b.has(EveryChange) {
		assert.Equal(b, events, r.Events(), explain...)
		return
	}
	got, err := b.replay(r)
	assert.NoError(b, err, explain...)
	assert.Equal(b, content(b.source), got, explain...)
	assert.LessOrEqual(b, len(r.Events()), len(events), explain...)
}

// set makes the object with the key have the value.
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

// unseen changes the collection while the informer is cut off for so long that it has to list again.
func (b *bubble) unseen(change func()) {
	release := b.source.Hold()
	b.source.Cut(nil)
	synctest.Wait()
	change()
	b.source.Touch() // the position of the informer must be older than the history
	b.source.Expire()
	release()
	time.Sleep(relistDelay)
	synctest.Wait()
}

// settle waits until nothing moves but the time.
func (b *bubble) settle() { synctest.Wait() }

// content is the content of the source.
func content(source *Source) map[string]string {
	out := map[string]string{}
	for key, obj := range source.Objects() {
		out[key] = obj.Labels[ValueLabel]
	}
	return out
}

// gate blocks callbacks until it is opened.
type gate chan struct{}

func newGate() gate { return make(gate) }

func (g gate) wait() { <-g }

func (g gate) open() { close(g) }
