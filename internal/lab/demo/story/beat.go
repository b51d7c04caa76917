package story

import "time"

// Beat is one thing that happened.
type Beat struct {
	// At is the time since the demo began.
	At time.Duration
	// Who acted.
	Who Who
	// Text is a sentence without a full stop, in one line.
	Text string
}

// Who is an actor of a story.
type Who string

// The cast, in the order in which an event passes.
const (
	Demo      Who = "demo"      // the script itself
	You       Who = "you"       // a user with kubectl
	Server    Who = "server"    // the API server
	Operator  Who = "operator"  // the owner of a finalizer
	Reflector Who = "reflector" // list, watch
	FIFO      Who = "deltafifo" // the deltas of each key
	Indexer   Who = "indexer"   // the store
	Handler   Who = "handler"   // OnAdd, OnUpdate, OnDelete
	Queue     Who = "queue"     // the keys and their delays
	Worker    Who = "worker"    // takes a key and makes a pass
	Deleter   Who = "deleter"   // the steps of a pass
)

// Cast returns the cast in that order.
func Cast() []Who {
	return []Who{Demo, You, Server, Operator, Reflector, FIFO, Indexer, Handler, Queue, Worker, Deleter}
}
