package display

import (
	"io"
	"strings"
	"sync"

	"orrery/internal/lab/demo/story"
)

// PlainWidth is the width of plain lines.
const PlainWidth = 120

// Printer writes a story as lines, each once. [NewPrinter] makes one.
type Printer struct {
	// Immutable.
	out   io.Writer
	width int
	color bool

	mu      sync.Mutex
	printed int // guarded by mu; the number of beats
}

// NewPrinter returns a printer of lines of at most width columns.
func NewPrinter(out io.Writer, width int, color bool) *Printer {
	return &Printer{out: out, width: width, color: color}
}

// Open does nothing.
func (p *Printer) Open() {}

// Close does nothing.
func (p *Printer) Close() {}

// Draw writes the new beats.
func (p *Printer) Draw(state story.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, beat := range state.Beats[min(p.printed, len(state.Beats)):] {
		p.Lines(Beat(beat, p.width))
	}
	p.printed = len(state.Beats)
}

// Lines writes lines.
func (p *Printer) Lines(lines []Line) {
	var b strings.Builder
	for _, line := range lines {
		line.encode(&b, p.color)
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(p.out, b.String())
}

// Sentence returns a paragraph.
func Sentence(text string, width int) []Line {
	return append([]Line{nil}, paragraph("", text, width)...)
}
