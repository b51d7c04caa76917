package story

import "time"

// Beat is one thing that happened.
type Beat struct {
	// At is when, since the demo began.
	At time.Duration
	// Who did it.
	Who Who
	// Text is a sentence without a full stop, in one line.
	Text string
}

// Who is somebody or something that does something in a story.
type Who string

// The cast, in the order in which an event passes through their hands.
const (
	Demo      Who = "demo"      // the script itself
	You       Who = "you"       // what somebody with kubectl would do
	Server    Who = "server"    // the API server
	Operator  Who = "operator"  // whoever owns a finalizer
	Reflector Who = "reflector" // list, watch
	FIFO      Who = "deltafifo" // what happened to each key
	Indexer   Who = "indexer"   // the store
	Handler   Who = "handler"   // OnAdd, OnUpdate, OnDelete
	Queue     Who = "queue"     // what is to be looked at, and when
	Worker    Who = "worker"    // takes a key, makes a pass
	Deleter   Who = "deleter"   // what a pass does
)

// Cast lists everybody, in that order.
func Cast() []Who {
	return []Who{Demo, You, Server, Operator, Reflector, FIFO, Indexer, Handler, Queue, Worker, Deleter}
}
