package bench

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"orrery/internal/words"
)

// ShowProgress shows the steps of meter on w, which should be stderr, until stop is called: on a
// terminal as a line that is rewritten in place, elsewhere not at all. stop removes the line, and
// may be called more than once.
func ShowProgress(w io.Writer, meter *Meter) (stop func()) {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	spinner := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(file),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // turn when drawn, without a goroutine
		progressbar.OptionSetPredictTime(false),
	)
	end := words.Redraw(100*time.Millisecond, func() { // so that the workload does not draw
		spinner.Describe(meter.Step())
		_ = spinner.Add(1)
	})
	return sync.OnceFunc(func() {
		end()
		_ = spinner.Clear()
	})
}

// Meter holds what a workload does at present. The zero value is ready for use. Both methods may be
// called on nil and from any goroutine.
type Meter struct{ step atomic.Value }

// Begin starts a step, such as "filling the store", and ends the previous one.
func (m *Meter) Begin(step string) {
	if m != nil {
		m.step.Store(step)
	}
}

// Step returns the current step, or "" before the first.
func (m *Meter) Step() string {
	if m == nil {
		return ""
	}
	step, _ := m.step.Load().(string)
	return step
}
