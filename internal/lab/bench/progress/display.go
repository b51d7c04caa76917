package progress

import (
	"io"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/bench"
)

// clear goes back to the first column and clears the line.
const clear = "\r\x1b[K"

// Display shows the phases of a meter. [Start] makes one.
type Display struct {
	// Immutable.
	config  Config
	meter   *bench.Meter
	stop    func() // closes the channel that ends the goroutine; once
	drawing sync.WaitGroup

	mu      sync.Mutex
	out     io.Writer // guarded by mu
	shown   string    // guarded by mu; the line that stands on the terminal
	told    int       // guarded by mu; how many phases have been written as plain lines
	stopped bool      // guarded by mu
}

// Start displays on w, which should be stderr, how far meter is until Stop is called. meter may be nil.
func Start(w io.Writer, meter *bench.Meter, config Config) *Display {
	done := make(chan struct{})
	d := &Display{
		config: config.withDefaults(w),
		meter:  meter,
		stop:   sync.OnceFunc(func() { close(done) }),
		out:    w,
	}
	d.drawing.Go(func() {
		ticker := time.NewTicker(d.config.Every)
		defer ticker.Stop()
		for {
			d.draw()
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	})
	return d
}

// Stop ends the display: on a terminal the line is gone, elsewhere the last phase is told. It may be called more than
// once.
func (d *Display) Stop() {
	d.stop()
	d.drawing.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.stopped = true
	if d.live() {
		d.eraseLocked()
	} else {
		d.tellLocked(true)
	}
}

// Print writes a text, as lines of their own, above the line that is drawn: it stays there. Texts that are written to
// the terminal in another way while a line is drawn end up in the middle of it.
func (d *Display) Print(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	d.eraseLocked()
	d.writeLocked(text)
}

func (d *Display) live() bool { return d.config.Width != nil }

func (d *Display) draw() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.live() {
		d.tellLocked(false)
		return
	}
	phase := d.meter.Phase()
	if phase.Name == "" || !phase.Ended.IsZero() {
		d.eraseLocked()
		return
	}
	line := Line(phase, time.Now(), d.config.Width(), *d.config.Look)
	if line != d.shown {
		d.shown = line
		d.writeLocked(clear + line)
	}
}

// tellLocked writes a line for each phase that is over, and at the end for the one that was going on.
func (d *Display) tellLocked(last bool) {
	for _, phase := range d.meter.Phases(d.told) {
		if phase.Ended.IsZero() && !last {
			return
		}
		d.told++
		d.writeLocked(Summary(phase, time.Now()) + "\n")
	}
}

func (d *Display) eraseLocked() {
	if d.shown != "" {
		d.shown = ""
		d.writeLocked(clear)
	}
}

func (d *Display) writeLocked(text string) { _, _ = io.WriteString(d.out, text) }
