// Package display draws a story: live on a terminal, as plain lines elsewhere.
//
// [Page], [Beat] and [Summary] are pure functions from a [story.State] and a size to lines. A
// [Screen] draws pages on a terminal and rewrites only the lines that changed. A [Printer] writes
// each beat as a line. Both are a [Display].
//
// A page has exactly the requested height and at most the requested width. Colour never carries
// information alone. Closing a Screen restores the cursor, line wrapping and the previous content.
// [Run] starts the goroutine that draws and stops it; Close may be called from any goroutine, for
// example one that handles a signal or a panic. Errors of the terminal are ignored here; the caller
// notices them at its output.
package display

import (
	"sync"
	"time"

	"orrery/internal/lab/demo/story"
)

// Display shows states of a story.
type Display interface {
	Open()
	Draw(story.State)
	Close()
}

// frame is the interval of drawing: smooth for the eye, and slow enough for a remote terminal.
const frame = 70 * time.Millisecond

// Run opens a display and draws the teller's state until the returned function is called. That
// function draws once more, closes the display and waits for the drawing goroutine. It may be
// called more than once.
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
