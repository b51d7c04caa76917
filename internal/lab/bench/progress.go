package bench

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows a meter on a terminal as a bar that is rewritten in place. It writes nothing to
// other outputs. Stop removes the bar, and a killed program leaves no terminal setting to restore.
type Progress struct {
	meter    *Meter
	terminal *os.File // nil if there is none
	stop     func()   // closes the channel that ends the goroutine, once
	drawing  sync.WaitGroup

	// mu guards the fields below.
	mu    sync.Mutex
	bar   *progressbar.ProgressBar // nil while none is shown
	began time.Time                // the phase of bar
}

// ShowProgress shows the meter on w, which should be stderr, until Stop is called.
func ShowProgress(w io.Writer, meter *Meter) *Progress {
	done := make(chan struct{})
	p := &Progress{meter: meter, stop: sync.OnceFunc(func() { close(done) })}
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return p
	}
	p.terminal = file
	p.drawing.Go(func() {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			p.draw()
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	})
	return p
}

// Stop removes the bar. It may be called more than once.
func (p *Progress) Stop() {
	p.stop()
	p.drawing.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eraseLocked()
}

// Print writes text to the terminal as lines of their own above the bar.
func (p *Progress) Print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eraseLocked()
	if p.terminal != nil {
		_, _ = io.WriteString(p.terminal, strings.TrimSuffix(text, "\n")+"\n")
	}
}

func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	phase := p.meter.Phase()
	if p.bar == nil || !p.began.Equal(phase.Started) {
		p.eraseLocked()
		if phase.Name == "" {
			return
		}
		p.bar, p.began = p.newBar(phase), phase.Started
		_ = p.bar.RenderBlank()
	}
	switch { // the library takes the last step for the end
	case phase.Total > 0:
		_ = p.bar.Set64(min(phase.Done, phase.Total-1))
	case phase.Lasts > 0:
		_ = p.bar.Set64(min(int64(time.Since(phase.Started)), int64(phase.Lasts)-1))
	default:
		_ = p.bar.Add(1) // a spinner
	}
}

const barWidth = 20

// newBar returns a bar, or a spinner if the phase has no known length.
func (p *Progress) newBar(phase Phase) *progressbar.ProgressBar {
	width, _, err := term.GetSize(int(p.terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80 // a serial line has no width
	}
	name := phase.Name
	if room := max(width-barWidth-22, 0); utf8.RuneCountInString(name) > room {
		name = string([]rune(name)[:room]) // a line that wraps cannot be rewritten
	}
	most := int64(-1)
	switch {
	case phase.Total > 0:
		most = phase.Total
	case phase.Lasts > 0:
		most = int64(phase.Lasts)
	}
	return progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(p.terminal),
		progressbar.OptionSetDescription(name),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // turn when drawn, without a goroutine
		progressbar.OptionClearOnFinish(),
	)
}

func (p *Progress) eraseLocked() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
