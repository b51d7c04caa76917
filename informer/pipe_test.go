package informer

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deliveries are all kinds of pipes.
var deliveries = []Delivery{Batching, ChannelPair, Bounded, Coalescing}

// eachPipe runs a test with every kind of pipe, in a bubble, which ends only if they leave no goroutine. The bounded one
// has room for capacity events.
func eachPipe(t *testing.T, capacity int, test func(t *testing.T, p pipe[*thing])) {
	for _, d := range deliveries {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newPipe[*thing](pipeConfig{delivery: d, capacity: capacity})) })
		})
	}
}

// numbered returns n notifications whose keys count from first.
func numbered(first, n int) []notification[*thing] {
	out := make([]notification[*thing], n)
	for i := range out {
		out[i] = notification[*thing]{kind: EventAdd, key: strconv.Itoa(first + i), obj: &thing{}}
	}
	return out
}

// sink is the far end of a pipe.
type sink struct {
	mu   sync.Mutex
	keys []string
}

func (s *sink) deliver(n *notification[*thing]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, n.key)
}

func (s *sink) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys
}

func keysFrom(first, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(first + i)
	}
	return out
}

func TestPipeDeliversInOrder(t *testing.T) {
	eachPipe(t, 16, func(t *testing.T, p pipe[*thing]) {
		var s sink
		go p.run(s.deliver)
		for first := 0; first < 5000; {
			n := 1 + first%37
			p.add(numbered(first, n))
			first += n
		}
		synctest.Wait()
		got := s.got()
		require.GreaterOrEqual(t, len(got), 5000)
		assert.Equal(t, keysFrom(0, len(got)), got)
		p.stop()
	})
}

func TestPipeNeverWaitsForItsReader(t *testing.T) {
	eachPipe(t, 5000, func(t *testing.T, p pipe[*thing]) {
		release := make(chan struct{})
		var s sink
		go p.run(func(n *notification[*thing]) {
			<-release
			s.deliver(n)
		})
		p.add(numbered(0, 3000)) // would block the test for ever
		synctest.Wait()
		assert.Empty(t, s.got())
		close(release)
		synctest.Wait()
		assert.Equal(t, keysFrom(0, 3000), s.got())
		p.stop()
	})
}

func TestPipeStopDropsWhatWaits(t *testing.T) {
	eachPipe(t, 5000, func(t *testing.T, p pipe[*thing]) {
		release := make(chan struct{})
		var s sink
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.run(func(n *notification[*thing]) {
				s.deliver(n)
				<-release
			})
		}()
		p.add(numbered(0, 300))
		synctest.Wait()
		p.stop()
		p.stop()
		synctest.Wait()
		assert.False(t, isClosed(done), "the delivery that is going on is waited for")
		close(release)
		<-done
		assert.Equal(t, []string{"0"}, s.got())
		p.add(numbered(300, 1)) // a no-op that does not block
		p.finish()
	})
}

func TestPipeFinishDeliversWhatWaits(t *testing.T) {
	eachPipe(t, 5000, func(t *testing.T, p pipe[*thing]) {
		var s sink
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.run(func(n *notification[*thing]) {
				time.Sleep(time.Millisecond)
				s.deliver(n)
			})
		}()
		p.add(numbered(0, 300))
		p.finish()
		p.finish()
		p.add(numbered(300, 10)) // too late
		<-done
		assert.Equal(t, keysFrom(0, 300), s.got())
	})
}

func TestPipeStopCutsAFinishShort(t *testing.T) {
	eachPipe(t, 5000, func(t *testing.T, p pipe[*thing]) {
		var s sink
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.run(func(n *notification[*thing]) {
				time.Sleep(time.Second)
				s.deliver(n)
			})
		}()
		p.add(numbered(0, 300))
		p.finish()
		time.Sleep(1500 * time.Millisecond)
		p.stop()
		<-done
		assert.Equal(t, keysFrom(0, 2), s.got())
	})
}

func TestPipeThatIsStoppedBeforeItRuns(t *testing.T) {
	eachPipe(t, 5000, func(t *testing.T, p pipe[*thing]) {
		p.stop()
		p.add(numbered(0, 10))
		var s sink
		p.run(s.deliver)
		assert.Empty(t, s.got())
	})
}

// TestBatchPipeLetsGoOfHandledObjects: what was delivered must be collectable although the pipe lives on.
func TestBatchPipeLetsGoOfHandledObjects(t *testing.T) {
	p := newBatchPipe[*thing](0)
	collected := make(chan struct{})
	func() {
		obj := &thing{name: "large"}
		runtime.AddCleanup(obj, func(struct{}) { close(collected) }, struct{}{})
		p.add([]notification[*thing]{{kind: EventAdd, obj: obj}})
	}()
	delivered := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { p.run(func(*notification[*thing]) { close(delivered) }) })
	<-delivered
	for i := 0; i < 1000 && !isClosed(collected); i++ {
		runtime.GC()
		runtime.Gosched() // the cleanup has a goroutine of its own
	}
	assert.True(t, isClosed(collected))
	p.stop()
	running.Wait()
}
