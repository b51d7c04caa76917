package story

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
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

// The widths of the columns before the text of a beat.
const (
	timeColumn = 7
	whoColumn  = 10
)

// BeatLines draws a beat, wrapped. Narrow pages omit the time.
func BeatLines(b Beat, width int) []Line {
	var head Line
	if width >= 60 {
		head = Line{{Faint, fmt.Sprintf("%*s ", timeColumn, fmt.Sprintf("%.1f s", b.At.Seconds()))}}
	} else {
		head = plain(" ")
	}
	head = append(head, Span{inkOf(b.Who), fmt.Sprintf("%-*s", whoColumn, b.Who)})
	indent := head.Width()
	if width < 60 {
		indent = 3
	}
	return hanging(head, b.Text, indent, width-1)
}

// hanging wraps text behind head, with an indent of the other lines.
func hanging(head Line, text string, indent, width int) (lines []Line) {
	for _, words := range wrap(text, width-head.Width(), width-indent) {
		lines = append(lines, append(head[:len(head):len(head)], Span{Plain, words}))
		head = plain(strings.Repeat(" ", indent))
	}
	return lines
}

// frame is the interval of drawing: smooth for the eye, and slow enough for a remote terminal.
const frame = 70 * time.Millisecond

// Run draws the teller's state until the returned function is called. That function waits for the
// drawing goroutine and draws once more. It may be called more than once.
func Run(draw func(State), teller *Teller) (stop func()) {
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		ticker := time.NewTicker(frame)
		defer ticker.Stop()
		for {
			draw(teller.State())
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
		draw(teller.State())
	})
}
