package dispatchbench

// Subject makes the informers of one library, or of one design in it. Its methods may be called from any goroutine.
type Subject interface {
	// Name is how the subject is called in results.
	Name() string
	// Merges tells that handlers which lag may be told of several events as one.
	Merges() bool
	// New returns an informer of objects of that kind. Nothing of it runs yet.
	New(kind Kind) (Informer, error)
}

// Informer is an informer behind a fake watch. One goroutine uses it: Load and Copy, then AddHandler, then Start, then
// Send as often as it likes, at the end Stop.
//
// It has a list of states: versions of objects, each a value of the library's type, numbered from 0.
type Informer interface {
	// Load decodes the JSON of an object by the library's decoder and returns the number of the state.
	Load(document []byte) (state int, err error)
	// Copy makes a new state of another one, with another identity. They share no memory, as if both had been decoded.
	Copy(state int, id Identity) (copied int)
	// AddHandler registers a handler, which is told the initial list as additions.
	AddHandler(h Handler) error
	// Start runs the informer and returns when every handler has been told the initial list: those states. The watch
	// holds as many events as buffer says that nobody has taken yet; then Send waits.
	Start(listed []int, buffer int) error
	// Send makes the watch hand out the object in that state, as modified.
	Send(state int)
	// SendCopy is Send of a copy that nobody else keeps.
	SendCopy(state int, id Identity)
	// Versions returns the resource versions of the objects in the store, by key.
	Versions() map[string]string
	// Stop ends the informer and waits for everything that it has started.
	Stop()
}

// Handler is told what happens. Each handler has its own goroutine, which the library owns.
type Handler interface {
	// Counted is asked first when an update comes. It answers whether counting the update was enough; then nobody looks at
	// the objects.
	Counted() bool
	OnAdd(id Identity)
	OnUpdate(oldVersion string, id Identity)
	// OnDelete is told the last state of the object.
	OnDelete(id Identity)
}

// Identity is what tells a state of an object from others.
type Identity struct{ Namespace, Name, ResourceVersion string }

// Kind is a type of objects.
type Kind string

const (
	// Heads are what all objects have: api.PartialObjectMetadata here, metav1.PartialObjectMetadata there.
	Heads Kind = "metadata"
	// Pods are typed pods: api.Pod here, corev1.Pod there. This project's has the fields that it reads and no others.
	Pods Kind = "pods"
)
