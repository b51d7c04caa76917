package informer

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestBoundedPipeMakesTheProducerWait until the handler has made room, and says for how long.
func TestBoundedPipeMakesTheProducerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBoundedPipe[*thing](4)
		var s sink
		release := make(chan struct{})
		go p.run(func(n *notification[*thing]) {
			<-release
			s.deliver(n)
		})
		assert.Zero(t, p.add(numbered(0, 4)))
		var became added
		done := make(chan struct{})
		go func() {
			defer close(done)
			became = p.add(numbered(4, 3))
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		assert.False(t, isClosed(done))
		close(release)
		<-done
		synctest.Wait()
		assert.Equal(t, time.Second, became.waited)
		assert.Equal(t, keysFrom(0, 7), s.got())
		p.stop()
	})
}

// TestBoundedPipeHoldsNoMoreThanItsCapacity, what the handler has in hand included.
func TestBoundedPipeHoldsNoMoreThanItsCapacity(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 10} {
		synctest.Test(t, func(t *testing.T) {
			p := newBoundedPipe[*thing](capacity)
			var mu sync.Mutex
			sent, told := 0, 0
			go p.run(func(*notification[*thing]) {
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				told++
			})
			for range 50 {
				p.add(numbered(sent, 1))
				mu.Lock()
				sent++
				assert.LessOrEqual(t, sent-told, capacity)
				mu.Unlock()
			}
			p.finish()
			time.Sleep(time.Minute)
			mu.Lock()
			defer mu.Unlock()
			assert.Equal(t, 50, told)
		})
	}
}

func TestBoundedPipeLetsGoOfItsProducer(t *testing.T) {
	for name, let := range map[string]func(p *boundedPipe[*thing]){
		"release": (*boundedPipe[*thing]).release,
		"finish":  (*boundedPipe[*thing]).finish,
		"stop":    (*boundedPipe[*thing]).stop,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newBoundedPipe[*thing](2)
				done := make(chan struct{})
				go func() {
					defer close(done)
					p.add(numbered(0, 10))
				}()
				synctest.Wait()
				require.False(t, isClosed(done))
				let(p)
				<-done
				p.add(numbered(10, 10)) // nor does it wait again
				p.finish()

				var s sink
				p.run(s.deliver)
				want := map[string][]string{"release": keysFrom(0, 20), "finish": keysFrom(0, 2)}
				assert.Equal(t, want[name], s.got())
			})
		})
	}
}

// TestBoundedPipeKeepsOrderBeyondItsBound: what comes after a release must not overtake what did not fit.
func TestBoundedPipeKeepsOrderBeyondItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBoundedPipe[*thing](4)
		p.release()
		var s sink
		next := 0
		add := func(n int) {
			p.add(numbered(next, n))
			next += n
		}
		add(7)
		go p.run(func(n *notification[*thing]) {
			s.deliver(n)
			time.Sleep(time.Second)
		})
		for range 20 {
			time.Sleep(700 * time.Millisecond)
			add(3)
		}
		p.finish()
		time.Sleep(time.Hour)
		assert.Equal(t, keysFrom(0, next), s.got())
	})
}

// TestBoundedPipeIsAQueue: whatever the sizes of batches and the pace of the handler.
func TestBoundedPipeIsAQueue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		capacity := rapid.IntRange(1, 9).Draw(rt, "capacity")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 20), 1, 30).Draw(rt, "sizes")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 3), 30, 30).Draw(rt, "pauses")
		synctest.Test(t, func(t *testing.T) {
			p := newBoundedPipe[*thing](capacity)
			var s sink
			done := make(chan struct{})
			go func() {
				defer close(done)
				p.run(func(n *notification[*thing]) {
					s.deliver(n)
					time.Sleep(time.Duration(pauses[len(s.got())%len(pauses)]))
				})
			}()
			next := 0
			for i, n := range sizes {
				p.add(numbered(next, n))
				next += n
				time.Sleep(time.Duration(pauses[i]))
			}
			p.finish()
			<-done
			assert.Equal(t, keysFrom(0, next), s.got())
		})
	})
}

func TestBoundedPipeHasADefaultCapacity(t *testing.T) {
	assert.Len(t, newBoundedPipe[*thing](0).slots, DefaultCapacity)
}
