// Package informertest has an in-memory server for tests of informers, and the contract of an
// informer.
//
// [FakeSource] is a collection that can be listed and watched, with versions and a history, so that
// nothing is lost between list and watch. It can misbehave like a real server: refuse requests,
// break connections, go silent, drop its history. It starts no goroutines.
//
// [Run] is the contract. It runs against the informer of this project with each form of processor,
// and against client-go's behind an adapter. Where they deliberately differ, there is a
// [Capability] with the reason, and the contract asserts the other behaviour; no case is skipped.
//
//	informertest.Run(t, informertest.Implementation{
//		New: func(t testing.TB, source *informertest.Source, cfg informertest.InformerConfig) informertest.Informer {
//			return myInformer(source, cfg)
//		},
//		SurvivePanics: ...,
//		Lacks:         map[informertest.Capability]string{informertest.ArrivalOrder: "it has a DeltaFIFO"},
//	})
//
// A case of the contract lists what happens and the expected events, as text. The last group runs
// random histories, and reduces failures to a minimal one (see package rapid). Each case runs in a
// synctest bubble and fails if the informer leaves a goroutine behind.
package informertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"orrery/restclient/api"
)

// Source serves the contract's informers: object metadata with the content in the label
// [ValueLabel].
type Source = FakeSource[*api.PartialObjectMetadata]

// ValueLabel holds the content of an object of the contract.
const ValueLabel = "value"

// Implementation is an informer under test.
type Implementation struct {
	// New returns a new informer over source. Its goroutines must end with the context of Run.
	New func(t testing.TB, source *Source, cfg InformerConfig) Informer
	// SurvivePanics makes panics in callbacks not end the process until restore is called.
	SurvivePanics func() (restore func())
	// Lacks names the missing capabilities, with the reasons. The contract then asserts the other
	// behaviour.
	Lacks map[Capability]string
}

// InformerConfig has the options that the contract needs. The zero value is an informer without
// options.
type InformerConfig struct {
	ResyncPeriod time.Duration
	// Transform, if not nil, changes the value of every incoming object.
	Transform func(value string) (string, error)
	// Index, if not nil, is called as an index function with the key of each stored object.
	Index func(key string) error
	// OnError, if not nil, is called with background errors.
	OnError func(err error)
}

// Informer is the contract's view of an informer.
type Informer interface {
	// Run blocks until ctx has ended and everything else has. A second call returns at once.
	Run(ctx context.Context) error
	HasSynced() bool
	IsStopped() bool
	LastSyncResourceVersion() string
	// Content returns the content of the store: values by key.
	Content() map[string]string

	// AddEventHandler registers a handler. A resync period of 0 means the informer's, a negative
	// one means never.
	AddEventHandler(h func(Event), resync time.Duration) (Registration, error)
	RemoveEventHandler(r Registration) error
}

// Registration represents a registered handler.
type Registration interface{ HasSynced() bool }

// Capability names a deliberate difference between informers.
type Capability string

// The capabilities.
const (
	// SyncsAfterPanic: a registration becomes synced although a callback of the initial list
	// panicked (kubernetes/kubernetes#129024).
	SyncsAfterPanic Capability = "a handler that panicked becomes synced"
	// ReportsProcessErrors: an event that cannot be applied is reported.
	ReportsProcessErrors Capability = "errors of processing are reported"
	// SkipsRefused: a listed object that has no key, or that the transform refuses, does not keep the
	// informer from becoming synced, and a deletion is processed although the transform refuses its
	// object.
	SkipsRefused Capability = "a refused object costs only itself"
	// SurvivesIndexErrors: an object for which an index function fails is stored, and handlers are
	// notified.
	SurvivesIndexErrors Capability = "an index function may fail"
	// RefusesForeign: removing the registration of another informer is an error.
	RefusesForeign Capability = "the removal of a foreign registration is refused"
	// RefusesSecondRun: a second Run is an error.
	RefusesSecondRun Capability = "a second Run is an error"
	// ReportsEnd: a registration has a method Ended() <-chan struct{}, whose channel is closed when
	// the last callback has returned (kubernetes/kubernetes#139755).
	ReportsEnd Capability = "the end of a handler is reported"
	// ResyncsDespiteRelists: frequent relists do not postpone the resync.
	ResyncsDespiteRelists Capability = "relists do not postpone the resync"
	// QuietRelists: an unchanged object in a list goes only to handlers that are due for a resync.
	QuietRelists Capability = "a list reports only changes"
	// TransformsOnce: an object of a streaming list is transformed once.
	TransformsOnce Capability = "every object is transformed once"
	// HandlersMayExit: a callback may end its goroutine, as t.FailNow does. It ends nothing else,
	// even if events wait for the handler.
	HandlersMayExit Capability = "a callback may end its goroutine"
	// EveryChange: a handler receives every change that the informer has seen, even if it is slow.
	EveryChange Capability = "a slow handler receives every change"
	// ReceivesWhileProcessing: the queue accepts events while one is processed. A queue that holds
	// its lock meanwhile, like the article's DeltaFIFO, makes the reflector wait.
	ReceivesWhileProcessing Capability = "events are received while one is processed"
	// ArrivalOrder: events of different objects keep their order while the informer is behind.
	ArrivalOrder Capability = "arrival order across objects"
)

// Run runs the contract against impl. Each case runs in a synctest bubble of its own.
func Run(t *testing.T, impl Implementation) {
	for _, group := range []struct {
		name  string
		cases []contractCase
	}{
		{"Lifecycle", lifecycleCases},
		{"Events", eventCases},
		{"Handlers", slices.Concat(stuckCases, lateCases, removalCases)},
		{"Resync", resyncCases},
		{"Failures", failureCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { inBubble(t, impl, c.run) })
			}
		})
	}
	t.Run("Histories", func(t *testing.T) { runHistories(t, impl) })
}

// contractCase is one behaviour.
type contractCase struct {
	name string
	run  func(b *bubble)
}
