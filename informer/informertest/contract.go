package informertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"orrery/restclient/api"
)

// Source is what the contract's informers list and watch: heads of objects, whose content is the label [ValueLabel].
type Source = FakeSource[*api.PartialObjectMetadata]

// ValueLabel holds what changes about an object of the contract.
const ValueLabel = "value"

// Implementation is a kind of informer that is put to the contract.
type Implementation struct {
	// New makes an informer over source. Everything that it starts has to end with the context of Run.
	New func(t testing.TB, source *Source, cfg InformerConfig) Informer
	// SurvivePanics makes panics in callbacks not end the process, silently, until restore is called.
	SurvivePanics func() (restore func())
	// Lacks names what the implementation cannot do, each with the reason. The contract then asserts what it does
	// instead.
	Lacks map[Capability]string
}

// InformerConfig is what the contract wants of an informer. The zero value is an informer without options.
type InformerConfig struct {
	ResyncPeriod time.Duration
	// Transform, if not nil, changes the value of every object that comes in.
	Transform func(value string) (string, error)
	// Index, if not nil, is an index function: called with the key of each object that is stored.
	Index func(key string) error
	// OnError, if not nil, is told what goes wrong in the background.
	OnError func(err error)
}

// Informer is an informer as the contract sees it.
type Informer interface {
	// Run blocks until ctx has ended and so has everything else. A second call returns at once.
	Run(ctx context.Context) error
	HasSynced() bool
	IsStopped() bool
	LastSyncResourceVersion() string
	// Content returns the store: value by key.
	Content() map[string]string

	// AddEventHandler registers a handler. A resync period of 0 is that of the informer, a negative one is never.
	AddEventHandler(h func(Event), resync time.Duration) (Registration, error)
	RemoveEventHandler(r Registration) error
}

// Registration is the receipt for a handler.
type Registration interface{ HasSynced() bool }

// ShutDowner is an [Informer] with [WaitsForHandlers].
type ShutDowner interface {
	ShutDownEventHandler(ctx context.Context, r Registration) error
}

// Drainer is an [Informer] with [DrainsHandlers].
type Drainer interface {
	ShutDownEventHandlerWithDrain(ctx context.Context, r Registration) error
}

// Capability is something in which informers differ on purpose.
type Capability string

// The capabilities.
const (
	// SyncsAfterPanic: a registration becomes synced although a callback of the initial list panicked
	// (kubernetes/kubernetes#129024).
	SyncsAfterPanic Capability = "a handler that panicked becomes synced"
	// ReportsProcessErrors: an event that cannot be applied is reported.
	ReportsProcessErrors Capability = "errors of processing are reported"
	// SurvivesIndexErrors: an object that an index function fails on is stored, and handlers are told of it.
	SurvivesIndexErrors Capability = "an index function may fail"
	// RefusesForeign: removing the registration of another informer is an error.
	RefusesForeign Capability = "the removal of a foreign registration is refused"
	// RefusesSecondRun: a second Run is an error.
	RefusesSecondRun Capability = "a second Run is an error"
	// WaitsForHandlers: there is a removal that waits for the callback (kubernetes/kubernetes#139755).
	WaitsForHandlers Capability = "a removal can wait for the handler"
	// DrainsHandlers: there is a removal that lets the handler work off what waits.
	DrainsHandlers Capability = "a removal can deliver what waits"
	// ResyncsDespiteRelists: frequent relists do not put off the resync.
	ResyncsDespiteRelists Capability = "relists do not postpone the resync"
	// QuietRelists: an object that a list shows unchanged is told only to handlers that are due for a resync.
	QuietRelists Capability = "a list tells only what has changed"
	// TransformsOnce: an object that comes in by a streaming list is transformed once.
	TransformsOnce Capability = "every object is transformed once"
	// IndependentHandlers: a handler that is slow delays nobody else, however much waits for it.
	IndependentHandlers Capability = "a slow handler delays nobody else"
	// EveryChange: a handler is told of every change that the informer has seen, also if it is slow.
	EveryChange Capability = "a slow handler is told of every change"
	// ReceivesWhileProcessing: the queue takes events in while an event is processed. A queue that holds its lock
	// meanwhile, as the DeltaFIFO of the article does, makes the reflector wait.
	ReceivesWhileProcessing Capability = "events are received while one is processed"
	// ArrivalOrder: events of different objects keep their order while the informer is behind.
	ArrivalOrder Capability = "arrival order across objects"
)

// Run puts an implementation to the contract. Each case runs in a synctest bubble of its own.
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
