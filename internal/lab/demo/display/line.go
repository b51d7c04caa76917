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

// Width returns the number of columns. Every character that this package draws is one column wide.
func (l Line) Width() int {
	width := 0
	for _, span := range l {
		width += utf8.RuneCountInString(span.Text)
	}
	return width
}

// String returns the text without inks.
func (l Line) String() string {
	var b strings.Builder
	for _, span := range l {
		b.WriteString(span.Text)
	}
	return b.String()
}

// cut returns the line cut to width columns, with a mark if it was longer.
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

// encode appends the line to b, with terminal codes if color is true.
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

// wrap breaks text at spaces into lines of at most width columns, and longer words at the width.
func wrap(text string, width int) []string {
	width = max(1, width)
	var lines []string
	line := []rune{}
	for _, word := range strings.Fields(text) {
		letters := []rune(word)
		if len(line) > 0 && len(line)+1+len(letters) <= width {
			line = append(append(line, ' '), letters...)
			continue
		}
		if len(line) > 0 {
			lines = append(lines, string(line))
		}
		for len(letters) > width {
			lines = append(lines, string(letters[:width]))
			letters = letters[width:]
		}
		line = letters
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}
