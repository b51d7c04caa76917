package story

import (
	"sync"
	"time"
)

// Display shows states of a story.
type Display interface {
	Open()
	Draw(State)
	Close()
}

// frame is the interval of drawing: smooth for the eye, and slow enough for a remote terminal.
const frame = 70 * time.Millisecond

// Run opens a display and draws the teller's state until the returned function is called. That
// function draws once more, closes the display and waits for the drawing goroutine. It may be
// called more than once.
func Run(d Display, teller *Teller) (stop func()) {
	d.Open()
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		ticker := time.NewTicker(frame)
		defer ticker.Stop()
		for {
			d.Draw(teller.State())
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
		d.Draw(teller.State())
		d.Close()
	})
}
