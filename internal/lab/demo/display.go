package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"orrery/internal/words"
)

// PlainWidth is the width of plain lines.
const PlainWidth = 120

// Printer writes a story as lines, each once. [NewPrinter] makes one. It is not safe for concurrent
// use.
type Printer struct {
	out     io.Writer
	width   int
	color   bool
	printed int // the number of beats
}

// NewPrinter returns a printer of lines of at most width columns.
func NewPrinter(out io.Writer, width int, color bool) *Printer {
	return &Printer{out: out, width: width, color: color}
}

// Draw writes the new beats.
func (p *Printer) Draw(state State) {
	for _, beat := range state.Beats[min(p.printed, len(state.Beats)):] {
		p.Lines(BeatLines(beat, p.width))
	}
	p.printed = len(state.Beats)
}

// Lines writes lines.
func (p *Printer) Lines(lines []string) {
	var b strings.Builder
	for _, line := range lines {
		if p.color {
			line = painted(line)
		}
		b.WriteString(line + "\n")
	}
	_, _ = io.WriteString(p.out, b.String())
}

// BeatLines draws a beat, wrapped.
func BeatLines(b Beat, width int) []string {
	return hanging(fmt.Sprintf("%5.1f s %-10s", b.At.Seconds(), b.Who), b.Text, width-1)
}

// frame is the interval of drawing: smooth for the eye, and slow enough for a remote terminal.
const frame = 70 * time.Millisecond

// keepDrawing draws the teller's state until the returned function is called. That function waits
// for the drawing goroutine and draws once more. It may be called more than once.
func keepDrawing(draw func(State), teller *Teller) (stop func()) {
	end := words.Redraw(frame, func() { draw(teller.State()) })
	return sync.OnceFunc(func() {
		end()
		draw(teller.State())
	})
}

// The few codes of a terminal that a screen needs.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J" // alternate screen, no cursor, no wrapping, clear
	beginUpdate = "\x1b[?2026h"                         // synchronized update: terminals that support it draw the whole page at once
	endUpdate   = "\x1b[?2026l"
	clearPage   = "\x1b[2J"
	clearRest   = "\x1b[K"
)

// Restore restores a terminal that a screen has taken over.
const Restore = "\x1b[?7h\x1b[?25h\x1b[?1049l"

// Screen draws pages on a terminal. [NewScreen] makes one. Its Close restores the cursor, line
// wrapping and the previous content, and may be called from any goroutine, such as one that handles
// a panic. Errors of the terminal are ignored here; the caller notices them at its output.
type Screen struct {
	// Immutable.
	out   io.Writer
	size  func() Size
	color bool

	mu   sync.Mutex
	open bool // guarded by mu
	last Size // guarded by mu; of the page that is shown
}

// NewScreen takes a terminal over until Close. It calls size before each page.
func NewScreen(out io.Writer, size func() Size, color bool) *Screen {
	s := &Screen{out: out, size: size, color: color, open: true}
	s.write(enterScreen)
	return s
}

// Close restores the terminal. Later calls of Draw do nothing. It may be called more than once.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.open = false
		s.write(Restore)
	}
}

// Draw shows the state.
func (s *Screen) Draw(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return
	}
	size := s.size()
	page := Page(state, size)
	var b strings.Builder
	b.WriteString(beginUpdate)
	if size != s.last {
		b.WriteString(clearPage)
		s.last = size
	}
	for i, line := range page {
		b.WriteString("\x1b[" + strconv.Itoa(i+1) + ";1H")
		rest := ""
		if Columns(line) < size.Width { // there is nothing to clear after the last column
			rest = clearRest
		}
		if s.color {
			line = painted(line)
		}
		b.WriteString(line + rest)
	}
	b.WriteString(endUpdate)
	s.write(b.String())
}

func (s *Screen) write(text string) { _, _ = io.WriteString(s.out, text) }

// Opening draws the introduction: what happens and what to watch.
func Opening(s State, width int) []string {
	lines := []string{"lab demo" + s.Say(", scene ") + s.Scene}
	lines = append(lines, hanging("  ", s.Words.Happens.In(s.Lang), width)...)
	lines = append(lines, hanging("  ", s.Words.Look.In(s.Lang), width)...)
	return append(lines, "")
}

// Summary draws what a scene has measured, nothing if that is not its purpose.
func Summary(s State, width int) []string {
	if len(s.Figures) == 0 {
		return nil
	}
	return append([]string{"", s.Say("What was measured")}, table(s.Figures, width)...)
}

// Closing draws what was learnt and what to read next.
func Closing(s State, width int) []string {
	lines := []string{"", s.Say("What was learnt")}
	for _, text := range s.Words.Learnt {
		lines = append(lines, hanging("  - ", text.In(s.Lang), width)...)
	}
	var files []Row
	for _, r := range s.Words.Read {
		files = append(files, Row{r.File, r.In(s.Lang)})
	}
	lines = append(lines, "", s.Say("Read on"))
	return append(lines, table(files, width)...)
}

// Sentence returns a paragraph.
func Sentence(text string, width int) []string {
	return append([]string{""}, hanging("", text, width)...)
}
