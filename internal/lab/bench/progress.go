package bench

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// ShowProgress shows the steps of meter on w, which should be stderr, until stop is called: on a
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
		bar, step := newBar(file, Step{}), Step{}
		defer func() { _ = bar.Clear() }()
		for {
			now := meter.Step()
			if !now.Started.Equal(step.Started) {
				_ = bar.Clear()
				bar, step = newBar(file, now), now
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

// newBar returns a bar, or a spinner if the step has no known length.
func newBar(terminal *os.File, step Step) *progressbar.ProgressBar {
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80 // a serial line has no width
	}
	name := []rune(step.Name)
	name = name[:min(len(name), max(width-barWidth-22, 0))] // a line that wraps cannot be rewritten
	most := int64(-1)
	if step.Lasts > 0 {
		most = int64(step.Lasts)
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
func draw(bar *progressbar.ProgressBar, step Step) {
	if step.Lasts > 0 {
		_ = bar.Set64(min(int64(time.Since(step.Started)), int64(step.Lasts)-1))
	} else {
		_ = bar.Add(1)
	}
}

// Meter holds what a workload does at present. The zero value is ready for use. All methods may be
// called on nil and from any goroutine.
type Meter struct {
	mu   sync.Mutex
	step Step // guarded by mu
}

// Step is a part of a run.
type Step struct {
	// Name describes the step: "filling the store". It is empty between steps.
	Name string
	// Started is when the step began.
	Started time.Time
	// Lasts is the expected duration; 0 if unknown.
	Lasts time.Duration
}

// Begin starts a step and ends the previous one. lasts is 0 if unknown.
func (m *Meter) Begin(name string, lasts time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step = Step{Name: name, Started: time.Now(), Lasts: lasts}
}

// End ends the current step. Only work between steps needs it.
func (m *Meter) End() { m.Begin("", 0) }

// Step returns the current step.
func (m *Meter) Step() Step {
	if m == nil {
		return Step{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.step
}
