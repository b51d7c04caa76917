package display

import (
	"strings"

	"orrery/internal/lab/demo/story"
)

// alone draws the page of a scene without a server: title, panel, narration and footer.
func (p *page) alone() {
	p.title()
	p.intent()
	p.rule("", "")
	footer := p.footer(2)
	panel := p.panel()
	p.add(panel[:min(len(panel), max(0, p.size.Height-len(p.lines)-len(footer)-1))]...)
	p.rule("", "")
	p.narration(p.size.Height - len(p.lines) - len(footer))
	p.add(footer...)
}

// panel draws the rows of the gear.
func (p *page) panel() []Line {
	drawn := strings.NewReplacer(Unicode.Full, p.glyphs.Full, Unicode.Empty, p.glyphs.Empty)
	name := min(longestRow(p.s.Panel), p.size.Width/3)
	var rows []Line
	for _, row := range p.s.Panel {
		head := inked(Strong, " "+row.Name).pad(name+1, p.glyphs)
		rows = append(rows, append(head, Span{Plain, "  " + drawn.Replace(row.Text)}))
	}
	return rows
}

// longestRow is the width of the names.
func longestRow(rows []story.Row) int {
	longest := 0
	for _, row := range rows {
		longest = max(longest, len([]rune(row.Name)))
	}
	return longest
}

// figures draws what a scene has measured.
func figures(s story.State, width int) []Line {
	name := longestRow(s.Figures)
	var lines []Line
	for _, figure := range s.Figures {
		head := "  " + figure.Name + strings.Repeat(" ", name-len([]rune(figure.Name))+2)
		lines = append(lines, paragraph(head, figure.Text, width)...)
	}
	return lines
}
