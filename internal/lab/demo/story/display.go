package story

import (
	"sync"
	"time"
)

// frame is the interval of drawing: smooth for the eye, and slow enough for a remote terminal.
const frame = 70 * time.Millisecond

// Run draws the teller's state until the returned function is called. That function waits for the
// drawing goroutine and draws once more. It may be called more than once.
func Run(draw func(State), teller *Teller) (stop func()) {
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		ticker := time.NewTicker(frame)
		defer ticker.Stop()
		for {
			draw(teller.State())
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		drawing.Wait()
		draw(teller.State())
	})
}
