package story

import (
	"fmt"
	"strings"
)

// Opening draws the introduction: what happens and what to watch.
func Opening(s State, width int) []Line {
	lines := []Line{{{Strong, "lab demo"}, {Plain, s.Say(", scene ")}, {Bright, s.Scene}}}
	lines = append(lines, paragraph("  ", s.Words.Happens.In(s.Lang), width)...)
	lines = append(lines, paragraph("  ", s.Words.Look.In(s.Lang), width)...)
	return append(lines, nil)
}

// Summary draws what a scene has measured, nothing if that is not its purpose.
func Summary(s State, width int) (lines []Line) {
	if len(s.Figures) == 0 {
		return nil
	}
	lines = []Line{nil, inked(Strong, s.Say("What was measured"))}
	name := longest(s.Figures, Row.name)
	for _, figure := range s.Figures {
		head := "  " + figure.Name + strings.Repeat(" ", name-Columns(figure.Name)+2)
		lines = append(lines, paragraph(head, figure.Text, width)...)
	}
	return lines
}

// Closing draws what was learnt and what to read next.
func Closing(s State, width int) []Line {
	lines := []Line{nil, inked(Strong, s.Say("What was learnt"))}
	for _, text := range s.Words.Learnt {
		lines = append(lines, paragraph("  - ", text.In(s.Lang), width)...)
	}
	lines = append(lines, nil, inked(Strong, s.Say("Read on")))
	name := longest(s.Words.Read, func(r Reading) string { return r.File })
	for _, r := range s.Words.Read {
		lines = append(lines, paragraph(fmt.Sprintf("  %-*s  ", name, r.File), r.In(s.Lang), width)...)
	}
	return lines
}

// paragraph wraps text behind head and indents the other lines.
func paragraph(head, text string, width int) []Line {
	indent := Columns(head)
	if indent > width/2 {
		indent = 4
	}
	return hanging(inked(Cool, head), text, indent, width)
}
