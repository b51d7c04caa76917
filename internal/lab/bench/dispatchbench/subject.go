package dispatchbench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// Subject makes the informers of one library, or of one design. Its methods may be called from any
// goroutine.
type Subject interface {
	// Name is the name in results.
	Name() string
	// Merges reports whether slow handlers may get several events as one.
	Merges() bool
	// New returns an informer of objects of the given kind, not yet running.
	New(kind Kind) (Informer, error)
}

// State is a version of an object: a value of the library's type.
type State any

// Informer is an informer behind a fake watch. It is used by one goroutine: Decode and
// As, AddHandler, Start, Send any number of times, and finally Stop.
type Informer interface {
	// Decode decodes the JSON of an object with the library's decoder.
	Decode(document []byte) (State, error)
	// As returns a shallow copy of a state in another resource version.
	As(state State, version string) State
	// AddHandler registers a handler, which gets the initial list as additions.
	AddHandler(h Handler) error
	// Start runs the informer with the listed states and returns when every handler has them. The
	// watch holds up to buffer events; then Send blocks.
	Start(listed []State, buffer int) error
	// Send makes the watch send the state as a modified event.
	Send(state State)
	// Versions returns the resource versions of the objects in the store, by key.
	Versions() map[string]string
	// Stop stops the informer and waits for its goroutines.
	Stop()
}

// Handler receives the events. Each handler has its own goroutine, owned by the library.
type Handler interface {
	// Counted is called first for an update. If it returns true the update was counted and OnUpdate
	// is not called.
	Counted() bool
	OnAdd(id Identity)
	OnUpdate(oldVersion string, id Identity)
	// OnDelete gets the last state of the object.
	OnDelete(id Identity)
}

// Identity identifies a state of an object.
type Identity struct{ Namespace, Name, ResourceVersion string }

// Kind is a type of objects.
type Kind string

const (
	// Heads are objects with metadata only: api.PartialObjectMetadata here,
	// metav1.PartialObjectMetadata there.
	Heads Kind = "metadata"
	// Pods are typed pods: api.Pod here, corev1.Pod there. This project's type has only the fields
	// that it reads.
	Pods Kind = "pods"
)

// Config holds the flags of "lab bench dispatch".
type Config struct {
	Handlers int
	// HandlerCost is the duration of each callback: work below 50 us, sleep from there on.
	HandlerCost time.Duration
	// Objects is the number of objects in the store.
	Objects int
	// Kind is the type of the objects.
	Kind Kind
	// ObjectSize is an object's payload in bytes, beyond the usual fields of a small pod.
	ObjectSize int
	bench.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Handlers, "handlers", 1, 1, 1000, "how many handlers there are")
	bench.CostVar(flags, &c.HandlerCost)
	bench.CountVar(flags, &c.Objects, "objects", 10_000, 1, 1_000_000, "how many objects are in the store")
	program.WordVar(flags, &c.Kind, "kind", "", "kind of objects", []Kind{Heads, Pods}, "what the objects are")
	bench.SizeVar(flags, &c.ObjectSize, "object-size", "payload of an object in addition to a small pod's fields")
	c.Load.AddTo(flags, "objects")
}
