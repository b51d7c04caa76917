package display

import (
	"strings"
	"unicode/utf8"
)

// Line is one line of a page.
type Line []Span

// Span is text in one ink.
type Span struct {
	Ink  Ink
	Text string
}

// Width is the number of columns that the line takes. All letters that this package draws are one column wide.
func (l Line) Width() int {
	width := 0
	for _, span := range l {
		width += utf8.RuneCountInString(span.Text)
	}
	return width
}

// String is the line without inks.
func (l Line) String() string {
	var b strings.Builder
	for _, span := range l {
		b.WriteString(span.Text)
	}
	return b.String()
}

// cut returns the line with at most width columns; what is cut off is marked.
func (l Line) cut(width int, glyphs *Glyphs) Line {
	if l.Width() <= width {
		return l
	}
	var cut Line
	room := width - 1
	for _, span := range l {
		runes := []rune(span.Text)
		if len(runes) >= room {
			cut = append(cut, Span{span.Ink, string(runes[:max(0, room)])})
			break
		}
		cut = append(cut, span)
		room -= len(runes)
	}
	if width > 0 {
		cut = append(cut, Span{Faint, glyphs.More})
	}
	return cut
}

// pad returns the line with exactly width columns.
func (l Line) pad(width int, glyphs *Glyphs) Line {
	l = l.cut(width, glyphs)
	if missing := width - l.Width(); missing > 0 {
		l = append(l[:len(l):len(l)], Span{Plain, strings.Repeat(" ", missing)})
	}
	return l
}

func plain(text string) Line          { return Line{{Plain, text}} }
func inked(ink Ink, text string) Line { return Line{{ink, text}} }

// encode appends the line for a terminal.
func (l Line) encode(b *strings.Builder, color bool) {
	for _, span := range l {
		code := ""
		if color {
			code = ansi[span.Ink]
		}
		b.WriteString(code)
		b.WriteString(span.Text)
		if code != "" {
			b.WriteString(resetInk)
		}
	}
}
