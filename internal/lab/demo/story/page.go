package story

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Size is the size of a terminal in columns and lines.
type Size struct{ Width, Height int }

// The minimum size for the picture of all gears.
const (
	roomyWidth  = 76
	roomyHeight = 22
)

// Page draws the state as a page of exactly size.Height lines of at most size.Width columns. It is
// a pure function.
func Page(s State, size Size) []Line {
	p := page{s: s, size: size}
	if !s.Alone && size.Width >= roomyWidth && size.Height >= roomyHeight {
		p.roomy()
	} else {
		p.plain()
	}
	for i := range p.lines {
		p.lines[i] = p.lines[i].cut(size.Width)
	}
	for len(p.lines) < size.Height {
		p.lines = append(p.lines, nil)
	}
	return p.lines[:max(0, size.Height)]
}

// page is a page that is being drawn.
type page struct {
	s     State
	size  Size
	lines []Line
}

func (p *page) add(lines ...Line) { p.lines = append(p.lines, lines...) }

// roomy draws title, gears beside bars, narration and footer.
func (p *page) roomy() {
	p.title()
	p.intent()
	left, right := p.gears(), p.bars()
	rows := max(len(left), len(right))
	left = append(left, make([]Line, rows-len(left))...)
	right = append(right, make([]Line, rows-len(right))...)
	p.rule()
	for i := range rows {
		p.add(slices.Concat(left[i].pad(p.leftWidth()), inked(Faint, "│"), right[i]))
	}
	p.rule()
	footer := p.footer(2)
	p.narration(p.size.Height - len(p.lines) - len(footer) - 1)
	p.rule()
	p.add(footer...)
}

// leftWidth returns the width of the gears: what they need, and more on wide pages.
func (p *page) leftWidth() int { return min(46, max(38, p.size.Width/2-2)) }

// intent draws Happens and Look. If there is room for one only, it draws Happens before the
// deletion and Look after it.
func (p *page) intent() {
	room := max(0, p.size.Height/6-1)
	lines := wrap(p.s.Happens+" "+p.s.Look, p.size.Width-2)
	if len(lines) > room {
		text := p.s.Look
		if len(p.s.Stages) < 2 && p.s.Alone || !p.s.Alone && p.s.Namespace.Phase != "Terminating" && p.s.Namespace.Phase != Gone {
			text = p.s.Happens
		}
		lines = wrap(text, p.size.Width-2)
	}
	for _, text := range lines[:min(len(lines), room)] {
		p.add(inked(Faint, " "+text))
	}
}

// title is the first line: the scene and the clock.
func (p *page) title() {
	left := Line{{Strong, " lab demo"}, {Faint, " " + mark + " "}, {Bright, p.s.Scene}}
	clock := fmt.Sprintf("%.1f s ", p.s.Elapsed.Seconds())
	gap := p.size.Width - left.Width() - len(clock)
	if gap > 0 {
		left = append(left, Span{Plain, strings.Repeat(" ", gap)}, Span{Strong, clock})
	}
	p.add(left)
}

func (p *page) rule() { p.add(inked(Faint, strings.Repeat("─", p.size.Width))) }

// narration draws the last beats on exactly rows lines.
func (p *page) narration(rows int) {
	if rows <= 0 {
		return
	}
	var reported []Line
	for i := len(p.s.Beats) - 1; i >= 0 && len(reported) < rows; i-- {
		reported = append(BeatLines(p.s.Beats[i], p.size.Width), reported...)
	}
	reported = reported[max(0, len(reported)-rows):]
	for len(reported) < rows {
		reported = append(reported, nil)
	}
	p.add(reported...)
}

// footer draws the current stage and its remaining time.
func (p *page) footer(most int) []Line {
	lead := Line{{Strong, " " + mark + " "}}
	if left := p.s.Left(); left > 0 {
		lead = append(lead, Span{Warm, fmt.Sprintf("%.1f s ", left.Seconds())})
	}
	lines := hanging(lead, p.s.Now, lead.Width(), p.size.Width-1)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = append(lines[most-1], Span{Plain, " " + more})
	}
	for len(lines) < most {
		lines = append(lines, nil)
	}
	return lines
}

// seconds formats d in ms or s.
func seconds(d time.Duration) string {
	if d > 0 && d < tenth/2 {
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// gears draws the left side: the counters of each gear, from the server to the worker.
func (p *page) gears() []Line {
	g := p.s.Gears
	later := ""
	if g.Later > 0 {
		later = p.s.Say(", %d later", g.Later)
	}
	rows := []Line{
		p.gear("Reflectors", p.s.Say("%d lists, %d events", g.Lists, g.Events)),
		p.gear("DeltaFIFOs", p.s.Say("%d deltas, %d wait", g.Deltas, g.Depth)),
		p.gear("Indexers", p.s.Say("%d objects", g.Objects)),
		p.gear("Handlers", p.s.Say("%d calls", g.Calls)),
		p.gear("Queue", p.s.Say("%d added, %d ready%s", g.Adds, g.Ready, later)),
		p.workers(),
		p.gear("Requests", p.requests()),
	}
	rows = append(rows, p.conditions()...)
	return rows
}

func (p *page) gear(name, figures string) Line {
	return Line{{Strong, fmt.Sprintf(" %-11s", name)}, {Plain, figures}}
}

// workers draws one mark for each worker.
func (p *page) workers() Line {
	g := p.s.Gears
	marks := min(g.Workers, 10)
	busy := min(g.Busy, marks)
	return Line{
		{Strong, fmt.Sprintf(" %-11s", "Workers")},
		{Warm, strings.Repeat("●", busy)}, {Faint, strings.Repeat("○", marks-busy)},
		{Plain, p.s.Say(" %d busy, pass %d", g.Busy, g.Passes)},
	}
}

func (p *page) requests() string {
	total := 0
	for _, n := range p.s.Requests[Controller] {
		total += n
	}
	return p.s.Say("%d by the controller", total)
}

// conditions draws the true conditions of the namespace, without their common prefix.
func (p *page) conditions() []Line {
	rows := []Line{inked(Faint, p.s.Say(" conditions with status True:"))}
	for _, condition := range p.s.Namespace.Conditions {
		rows = append(rows, Line{{Warm, " ! " + strings.TrimPrefix(condition.Type, "Namespace")}})
	}
	if len(rows) == 1 {
		rows[0] = append(rows[0], Span{Faint, p.s.Say(" none")})
	}
	for len(rows) < 4 {
		rows = append(rows, nil)
	}
	return rows
}

// bars draws the right side: the namespace and the objects left in it.
func (p *page) bars() []Line {
	const shortestBar = 8
	width := min(p.size.Width-p.leftWidth()-3, 90)
	bars := slices.Concat(p.s.Types, p.s.Lines)
	name := min(longest(bars, Type.name), width-shortestBar-numberWidth-2)
	rows := []Line{append(plain(" "), Span{Strong, p.namespaceText()})}
	for _, t := range bars {
		rows = append(rows, append(plain(" "), barRow(t, name, width)...))
	}
	return rows
}

// longest is the width of the longest name.
func longest[T any](rows []T, name func(T) string) (width int) {
	for _, row := range rows {
		width = max(width, Columns(name(row)))
	}
	return width
}

func (t Type) name() string { return t.Name }
func (r Row) name() string  { return r.Name }

func (p *page) namespaceText() string {
	n := p.s.Namespace
	switch {
	case n.Phase == "":
		return p.s.Say("%s: does not exist yet", n.Name)
	case n.Phase == Gone:
		return p.s.Say("%s: gone", n.Name)
	case p.size.Width < roomyWidth || len(n.Finalizers) == 0:
		return n.Name + ": " + n.Phase
	}
	return p.s.Say("%s: %s, held by %s", n.Name, n.Phase, strings.Join(n.Finalizers, ", "))
}

// plain draws title, panel, narration and footer.
func (p *page) plain() {
	p.title()
	p.intent()
	p.rule()
	footer := p.footer(2)
	panel := p.panel()
	p.add(panel[:min(len(panel), max(0, p.size.Height-len(p.lines)-len(footer)-1))]...)
	p.rule()
	p.narration(p.size.Height - len(p.lines) - len(footer))
	p.add(footer...)
}

// panel draws the rows of the gear; on a small page, what is left of a namespace.
func (p *page) panel() (rows []Line) {
	if !p.s.Alone {
		total := p.s.Total()
		total.Name = p.namespaceText()
		bars := append([]Type{total}, p.s.Lines...)
		width := p.size.Width - 2
		name := min(longest(bars, Type.name), width*2/3)
		for _, bar := range bars {
			rows = append(rows, append(plain(" "), barRow(bar, name, width)...))
		}
		return rows
	}
	name := min(longest(p.s.Panel, Row.name), p.size.Width/3)
	for _, row := range p.s.Panel {
		head := inked(Strong, " "+row.Name).pad(name + 1)
		rows = append(rows, append(head, Span{Plain, "  " + row.Text}))
	}
	return rows
}

// figures draws what a scene has measured.
func figures(s State, width int) []Line {
	name := longest(s.Figures, Row.name)
	var lines []Line
	for _, figure := range s.Figures {
		head := "  " + figure.Name + strings.Repeat(" ", name-Columns(figure.Name)+2)
		lines = append(lines, paragraph(head, figure.Text, width)...)
	}
	return lines
}
