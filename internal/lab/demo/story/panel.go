package story

import (
	"fmt"
	"strings"
)

// Show sets the text of a row of the panel, and adds the row if there is none of this name.
func (s *State) Show(name, format string, args ...any) {
	s.Panel = set(s.Panel, name, fmt.Sprintf(format, args...))
}

// Figure sets a figure that the scene has measured.
func (s *State) Figure(name, format string, args ...any) {
	s.Figures = set(s.Figures, name, fmt.Sprintf(format, args...))
}

func set(rows []Row, name, text string) []Row {
	row := Row{name, harmless(text)}
	for i := range rows {
		if rows[i].Name == name {
			rows[i] = row
			return rows
		}
	}
	return append(rows, row)
}

// Bar returns a bar of width columns, of which part/whole are full. Only 0 is an empty bar.
func Bar(part, whole, width int) string {
	full := 0
	if whole > 0 {
		full = max(0, min(width, (part*width+whole-1)/whole))
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
