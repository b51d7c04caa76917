package story

import (
	"fmt"
	"slices"
	"strings"
)

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
	name := min(longestName(bars), width-shortestBar-numberWidth-2)
	rows := []Line{append(plain(" "), Span{Strong, p.namespaceText()})}
	for _, t := range bars {
		rows = append(rows, append(plain(" "), barRow(t, name, width)...))
	}
	return rows
}

// longestName is the width of the names of bars.
func longestName(bars []Type) int {
	longest := 0
	for _, t := range bars {
		longest = max(longest, Columns(t.Name))
	}
	return longest
}

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
		for _, bar := range bars {
			width := p.size.Width - 2
			rows = append(rows, append(plain(" "), barRow(bar, min(longestName(bars), width*2/3), width)...))
		}
		return rows
	}
	name := min(longestRow(p.s.Panel), p.size.Width/3)
	for _, row := range p.s.Panel {
		head := inked(Strong, " "+row.Name).pad(name + 1)
		rows = append(rows, append(head, Span{Plain, "  " + row.Text}))
	}
	return rows
}

// longestRow is the width of the names.
func longestRow(rows []Row) int {
	longest := 0
	for _, row := range rows {
		longest = max(longest, Columns(row.Name))
	}
	return longest
}

// figures draws what a scene has measured.
func figures(s State, width int) []Line {
	name := longestRow(s.Figures)
	var lines []Line
	for _, figure := range s.Figures {
		head := "  " + figure.Name + strings.Repeat(" ", name-Columns(figure.Name)+2)
		lines = append(lines, paragraph(head, figure.Text, width)...)
	}
	return lines
}
