package report

import (
	"strings"
	"unicode/utf8"
)

// tableWidth is the maximum width of a table, and where lists of words are broken.
const tableWidth = 100

// The space before a line and between columns.
const (
	cellIndent = 2
	cellGap    = 3
)

// cells are the rows of a table. The first column is aligned to the left, all others to the right,
// so that digits align. A row with a single cell is a heading and may be wider than its column.
type cells [][]string

func (c *cells) add(row ...string) { *c = append(*c, row) }

func (c cells) widths() []int {
	var widths []int
	for _, row := range c {
		for i, cell := range row {
			if len(row) == 1 {
				continue
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func (c cells) write(text *strings.Builder) {
	widths := c.widths()
	for _, row := range c {
		var line strings.Builder
		for i, cell := range row {
			switch {
			case len(row) == 1:
				line.WriteString(strings.Repeat(" ", cellIndent) + cell)
			case i == 0:
				line.WriteString(strings.Repeat(" ", cellIndent) + cell + padding(cell, widths[0]))
			default:
				line.WriteString(strings.Repeat(" ", cellGap) + padding(cell, widths[i]) + cell)
			}
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func padding(cell string, width int) string {
	return strings.Repeat(" ", width-utf8.RuneCountInString(cell))
}

// writeSentence writes a sentence; its continuation lines are indented further.
func writeSentence(text *strings.Builder, sentence string) {
	writeWrapped(text, strings.Fields(sentence), " ", "  ", "    ")
}

// writeWrapped writes words with separators, wrapped.
func writeWrapped(text *strings.Builder, words []string, separator, indent, further string) {
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = indent + word
		case utf8.RuneCountInString(line+separator+word) > tableWidth:
			text.WriteString(line + "\n")
			line = further + word
		default:
			line += separator + word
		}
	}
	if line != "" {
		text.WriteString(line + "\n")
	}
}
