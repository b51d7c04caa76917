package story

import (
	"fmt"
	"strings"
)

// Opening draws the introduction: what happens and what to watch.
func Opening(s State, width int) []Line {
	lines := []Line{{{Strong, "lab demo"}, {Plain, s.Say(", scene ")}, {Bright, s.Scene}}}
	lines = append(lines, paragraph("  ", s.Happens, width)...)
	lines = append(lines, paragraph("  ", s.Look, width)...)
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

// Lesson is what was learnt in a scene.
type Lesson struct {
	// Learnt are sentences.
	Learnt []string
	// Read are files of the repository, each with the reason to read it.
	Read []Reading
}

// Reading is a file to read, with the reason.
type Reading struct{ File, Why string }

// Closing draws the lesson and what to read next.
func Closing(s State, l Lesson, width int) []Line {
	lines := []Line{nil, inked(Strong, s.Say("What was learnt"))}
	for _, text := range l.Learnt {
		lines = append(lines, paragraph("  - ", text, width)...)
	}
	lines = append(lines, nil, inked(Strong, s.Say("Read on")))
	longest := 0
	for _, r := range l.Read {
		longest = max(longest, len(r.File))
	}
	for _, r := range l.Read {
		lines = append(lines, paragraph(fmt.Sprintf("  %-*s  ", longest, r.File), r.Why, width)...)
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
