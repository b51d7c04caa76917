package display

import (
	"fmt"
	"strings"

	"orrery/internal/lab/demo/story"
)

// bar draws left out of most. Only 0 is drawn as an empty bar, and only most as a full one.
func bar(t story.Type, width int, glyphs *Glyphs) Line {
	full := 0
	if t.Most > 0 {
		full = (t.Left*width + t.Most/2) / t.Most
	}
	if t.Left > 0 {
		full = max(full, 1)
	}
	if t.Left < t.Most && width > 1 {
		full = min(full, width-1)
	}
	return Line{{Cool, strings.Repeat(glyphs.Full, full)}, {Faint, strings.Repeat(glyphs.Empty, width-full)}}
}

// numberWidth is the width of the number behind a bar.
const numberWidth = 5

// barRow draws a bar with its name and its number, width columns in all, name of them for the name.
func barRow(t story.Type, name, width int, glyphs *Glyphs) Line {
	ink := Strong
	figure := fmt.Sprintf("%*d", numberWidth, t.Left)
	if t.Left == 0 {
		ink = Faint
		if t.Most > 0 {
			figure = fmt.Sprintf("%*s", numberWidth, "gone")
		}
	}
	row := inked(Plain, t.Name).pad(name, glyphs)
	row = append(row, Span{Plain, " "})
	row = append(row, bar(t, max(1, width-name-numberWidth-2), glyphs)...)
	return append(row, Span{Plain, " "}, Span{ink, figure})
}
