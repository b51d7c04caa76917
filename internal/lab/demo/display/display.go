package display

import (
	"sync"
	"time"

	"orrery/internal/lab/demo/story"
)

// Display shows how things stand, again and again.
type Display interface {
	Open()
	Draw(story.State)
	Close()
}

// frame is how often a display is drawn: often enough for the eye, seldom enough for a slow connection.
const frame = 70 * time.Millisecond

// Run opens a display and draws what the teller knows until the returned function is called, which draws once more,
// closes the display, and returns when all of that is done. It may be called more than once.
func Run(d Display, teller *story.Teller) (stop func()) {
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
