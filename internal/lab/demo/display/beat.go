package display

import (
	"fmt"
	"strings"

	"orrery/internal/lab/demo/story"
)

// The widths of the columns before the text of a beat.
const (
	timeColumn = 7
	whoColumn  = 10
)

// Beat draws a beat, wrapped. Narrow pages omit the time.
func Beat(b story.Beat, width int) []Line {
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
	var lines []Line
	first := true
	for _, text := range wrapFrom(b.Text, width-head.Width()-1, width-indent-1) {
		line := plain(strings.Repeat(" ", indent))
		if first {
			line, first = head, false
		}
		lines = append(lines, append(line, Span{Plain, text}))
	}
	return lines
}

// wrapFrom is wrap with another width for the first line.
func wrapFrom(text string, first, width int) []string {
	lines := wrap(text, first)
	if len(lines) < 2 || first == width {
		return lines
	}
	return append(lines[:1], wrap(strings.TrimSpace(strings.TrimPrefix(text, lines[0])), width)...)
}
