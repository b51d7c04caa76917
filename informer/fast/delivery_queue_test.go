package fast

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
)

// thing is a small object.
type thing struct{ name, version string }

// callFunc is the handler that a queue delivers to.
type callFunc func(n *informer.Notification[*thing])

func (f callFunc) Call(n *informer.Notification[*thing]) { f(n) }

// eachQueue runs a test with every kind of queue, in a bubble, which ends only if they leave no
// goroutine.
func eachQueue(t *testing.T, test func(t *testing.T, p deliveryQueue[*thing])) {
	for name, opts := range map[string]informer.HandlerOptions{"batches": {}, "coalescing": {Coalescing: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newDeliveryQueue[*thing](opts, false, nil)) })
		})
	}
}

// numbered returns n notifications whose keys count from first.
func numbered(first, n int) []informer.Notification[*thing] {
	out := make([]informer.Notification[*thing], n)
	for i := range out {
		out[i] = informer.Notification[*thing]{Kind: informer.EventAdd, Key: strconv.Itoa(first + i), New: &thing{}}
	}
	return out
}

// sink is the handler side of a queue.
type sink struct {
	mu   sync.Mutex
	keys []string
}

func (s *sink) deliver(n *informer.Notification[*thing]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, n.Key)
}

func (s *sink) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys
}

// running runs a queue. done is closed when it has ended.
func running(p deliveryQueue[*thing], call callFunc) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		p.run(call)
	}()
	return done
}

func keysFrom(first, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(first + i)
	}
	return out
}

func TestDeliveryQueueNeverWaitsForItsReader(t *testing.T) {
	eachQueue(t, func(t *testing.T, p deliveryQueue[*thing]) {
		release := make(chan struct{})
		var s sink
		go p.run(callFunc(func(n *informer.Notification[*thing]) {
			<-release
			s.deliver(n)
		}))
		p.add(numbered(0, 3000)) // would block the test forever
		synctest.Wait()
		assert.Empty(t, s.got())
		close(release)
		synctest.Wait()
		assert.Equal(t, keysFrom(0, 3000), s.got())
		p.stop()
	})
}

func TestDeliveryQueueStopDropsWhatWaits(t *testing.T) {
	eachQueue(t, func(t *testing.T, p deliveryQueue[*thing]) {
		release := make(chan struct{})
		var s sink
		done := running(p, func(n *informer.Notification[*thing]) {
			s.deliver(n)
			<-release
		})
		p.add(numbered(0, 300))
		synctest.Wait()
		p.stop()
		p.stop()
		synctest.Wait()
		assert.False(t, closed(done), "the delivery in progress is waited for")
		close(release)
		<-done
		assert.Equal(t, []string{"0"}, s.got())
		p.add(numbered(300, 1)) // a no-op that does not block
	})
}

// TestBatchQueueReleasesHandledObjects: delivered objects can be collected while the queue is in
// use.
func TestBatchQueueReleasesHandledObjects(t *testing.T) {
	p := newBatchQueue[*thing]()
	collected := make(chan struct{})
	func() {
		obj := &thing{name: "large"}
		runtime.AddCleanup(obj, func(struct{}) { close(collected) }, struct{}{})
		p.add([]informer.Notification[*thing]{{Kind: informer.EventAdd, New: obj}})
	}()
	delivered := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { p.run(callFunc(func(*informer.Notification[*thing]) { close(delivered) })) })
	<-delivered
	for i := 0; i < 1000 && !closed(collected); i++ {
		runtime.GC()
		runtime.Gosched() // the cleanup has its own goroutine
	}
	assert.True(t, closed(collected))
	p.stop()
	running.Wait()
}

// closed reports whether a channel without senders is closed.
func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
