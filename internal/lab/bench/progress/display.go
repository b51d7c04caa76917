package progress

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"orrery/internal/lab/bench"
)

// every is how often a display looks at its meter.
const every = 100 * time.Millisecond

// Display shows the phases of a meter. [Start] makes one.
type Display struct {
	// Immutable.
	meter    *bench.Meter
	terminal *os.File // nil if out is none that can rewrite a line
	stop     func()   // closes the channel that ends the goroutine; once
	drawing  sync.WaitGroup

	// mu guards the fields below.
	mu      sync.Mutex
	out     io.Writer
	bar     *progressbar.ProgressBar // nil while none stands on the terminal
	began   time.Time                // the phase of bar
	told    int                      // how many phases have been written as plain lines
	stopped bool
}

// Start displays on w, which should be stderr, how far meter is until Stop is called. meter may be nil.
func Start(w io.Writer, meter *bench.Meter) *Display {
	done := make(chan struct{})
	d := &Display{meter: meter, out: w, stop: sync.OnceFunc(func() { close(done) })}
	if file, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd())) {
		d.terminal = file
	}
	d.drawing.Go(func() {
		ticker := time.NewTicker(every)
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

// Stop ends the display: on a terminal the bar is gone, elsewhere the last phase is written. It may be called more than
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
	if d.terminal != nil {
		d.eraseLocked()
	} else {
		d.tellLocked(true)
	}
}

// Print writes a text, as lines of their own, above the bar: it stays there. Texts that are written to the terminal in
// another way while there is a bar end up in the middle of it.
func (d *Display) Print(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.eraseLocked()
	d.writeLocked(strings.TrimSuffix(text, "\n") + "\n")
}

func (d *Display) draw() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.terminal == nil {
		d.tellLocked(false)
		return
	}
	phase := d.meter.Phase()
	if phase.Name == "" || !phase.Ended.IsZero() {
		d.eraseLocked()
		return
	}
	now := time.Now()
	part, known := phase.Part(now)
	if d.bar == nil || !d.began.Equal(phase.Started) {
		d.eraseLocked()
		d.bar, d.began = newBar(d.out, known, shorten(Describe(phase, now), d.room())), phase.Started
	}
	if known {
		_ = d.bar.Set(min(int(part*steps), steps-1)) // the library takes the last step for the end
	}
	d.bar.Describe(shorten(Describe(phase, now), d.room()))
}

// steps of a bar; what they stand for is in the description.
const steps = 1000

// newBar returns a bar, or a spinner if nobody knows how long the phase is.
func newBar(out io.Writer, known bool, description string) *progressbar.ProgressBar {
	total := int64(-1)
	if known {
		total = steps
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(description),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionShowDescriptionAtLineEnd(), // the bar does not jump when a number gets a digit more
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // it turns when it is drawn, without a goroutine of its own
		progressbar.OptionClearOnFinish(),
	)
}

const barWidth = 20

// room is how many columns a description may have, beside bar, percents and times.
func (d *Display) room() int {
	width, _, err := term.GetSize(int(d.terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80 // a serial line does not know
	}
	return width - barWidth - 22
}

// shorten cuts a text that is too long: a line that wraps could not be rewritten.
func shorten(text string, columns int) string {
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	return string([]rune(text)[:max(columns, 0)])
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
	if d.bar != nil {
		_ = d.bar.Clear()
		d.bar = nil
	}
}

func (d *Display) writeLocked(text string) { _, _ = io.WriteString(d.out, text) }
