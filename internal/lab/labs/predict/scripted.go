package predict

import (
	"context"
	"sync"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
)

// idle is a reflector without a server.
type idle struct{}

func (idle) Run(ctx context.Context)         { <-ctx.Done() }
func (idle) LastSyncResourceVersion() string { return "" }
func (idle) Snapshot() reflector.Snapshot    { return reflector.Snapshot{} }

// scripted returns a new informer, and its queue, which hands out what the script says.
func scripted[T informer.Object]() (*informer.SharedIndexInformer[T], *scriptedQueue[T]) {
	queue := &scriptedQueue[T]{popped: make(chan *popped[T]), closed: make(chan struct{}), synced: make(chan struct{})}
	return informer.NewSharedIndexInformer(nil, informer.Config[T]{Gears: informer.Gears[T]{
		NewQueue: func(cfg deltafifo.Config[T]) informer.Queue[T] {
			queue.Queue = deltafifo.New(cfg)
			return queue
		},
		NewReflector: func(reflector.Config[T]) informer.Reflector { return idle{} },
	}}), queue
}

// scriptedQueue is a queue that only hands out what the script says.
type scriptedQueue[T any] struct {
	informer.Queue[T] // stays empty
	popped            chan *popped[T]
	closed            chan struct{}
	synced            chan struct{} // closed after the first Pop
	once              sync.Once
}

// popped is what one Pop hands out.
type popped[T any] struct {
	key    string
	deltas deltafifo.Deltas[T]
	done   chan struct{} // closed after the process function
}

// hand lets one Pop hand out deltas, and waits until they are processed.
func (q *scriptedQueue[T]) hand(ctx context.Context, key string, deltas deltafifo.Deltas[T]) error {
	p := &popped[T]{key, deltas, make(chan struct{})}
	select {
	case q.popped <- p:
		<-p.done
		q.once.Do(func() { close(q.synced) })
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *scriptedQueue[T]) Pop(process func(string, deltafifo.Deltas[T], bool) error) (deltafifo.Deltas[T], error) {
	select {
	case p := <-q.popped:
		defer close(p.done)
		return p.deltas, process(p.key, p.deltas, false)
	case <-q.closed:
		return nil, deltafifo.ErrFIFOClosed
	}
}

func (q *scriptedQueue[T]) Synced() <-chan struct{} { return q.synced }
func (q *scriptedQueue[T]) Close()                  { close(q.closed) }
