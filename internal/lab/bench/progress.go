package bench

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// ShowProgress shows the phases of meter on w, which should be stderr, until stop is called: on a
// terminal as a bar that is rewritten in place, elsewhere not at all. stop removes the bar, and may
// be called more than once.
func ShowProgress(w io.Writer, meter *Meter) (stop func()) {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() { // so that the workload does not draw
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		bar, phase := newBar(file, Step{}), Step{}
		defer func() { _ = bar.Clear() }()
		for {
			now := meter.Phase()
			if !now.Started.Equal(phase.Started) {
				_ = bar.Clear()
				bar, phase = newBar(file, now), now
				if now.Name != "" {
					_ = bar.RenderBlank()
				}
			}
			if now.Name != "" {
				draw(bar, now)
			}
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
	})
}

const barWidth = 20

// newBar returns a bar, or a spinner if the phase has no known length.
func newBar(terminal *os.File, phase Step) *progressbar.ProgressBar {
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80 // a serial line has no width
	}
	name := []rune(phase.Name)
	name = name[:min(len(name), max(width-barWidth-22, 0))] // a line that wraps cannot be rewritten
	most := int64(-1)
	switch {
	case phase.Total > 0:
		most = phase.Total
	case phase.Lasts > 0:
		most = int64(phase.Lasts)
	}
	return progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(terminal),
		progressbar.OptionSetDescription(string(name)),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // turn when drawn, without a goroutine
		progressbar.OptionClearOnFinish(),
	)
}

// draw never takes the last step, which the library takes for the end.
func draw(bar *progressbar.ProgressBar, phase Step) {
	switch {
	case phase.Total > 0:
		_ = bar.Set64(min(phase.Done, phase.Total-1))
	case phase.Lasts > 0:
		_ = bar.Set64(min(int64(time.Since(phase.Started)), int64(phase.Lasts)-1))
	default:
		_ = bar.Add(1)
	}
}

// Meter reports the progress of a workload. The zero value is ready for use. All methods may be
// called on nil and from any goroutine.
type Meter struct {
	done atomic.Int64 // in the current phase

	mu    sync.Mutex
	phase Step // guarded by mu
}

// Step is a part of a run and its progress.
type Step struct {
	// Name describes the phase: "filling the store". It is empty between phases.
	Name string
	// Started is when the phase began.
	Started time.Time
	// Lasts is the expected duration and Total the expected count; 0 if unknown.
	Lasts time.Duration
	Total int64
	// Done is the count so far.
	Done int64
}

// Begin starts a phase and ends the previous one. lasts and total are 0 if unknown.
func (m *Meter) Begin(name string, lasts time.Duration, total int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Store(0)
	m.phase = Step{Name: name, Started: time.Now(), Lasts: lasts, Total: total}
}

// End ends the current phase. Only work between phases needs it.
func (m *Meter) End() { m.Begin("", 0, 0) }

// Count adds n to Done. All goroutines share the counter, so call it once for about a thousand, and
// once for the rest.
func (m *Meter) Count(n int) {
	if m != nil {
		m.done.Add(int64(n))
	}
}

// Phase returns the current phase.
func (m *Meter) Phase() Step {
	if m == nil {
		return Step{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	phase := m.phase
	phase.Done = m.done.Load()
	return phase
}
