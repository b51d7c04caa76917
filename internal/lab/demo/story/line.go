package story

import (
	"fmt"
	"regexp"
	"strings"
)

// Line is one line of a page.
type Line []Span

// Span is text in one ink.
type Span struct {
	Ink  Ink
	Text string
}

// Width returns the number of columns.
func (l Line) Width() int {
	width := 0
	for _, span := range l {
		width += Columns(span.Text)
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
func (l Line) cut(width int) Line {
	if l.Width() <= width {
		return l
	}
	var cut Line
	room := width - 1
	for _, span := range l {
		if Columns(span.Text) >= room {
			fits, _ := split(span.Text, room)
			cut = append(cut, Span{span.Ink, fits})
			break
		}
		cut = append(cut, span)
		room -= Columns(span.Text)
	}
	if width > 0 {
		cut = append(cut, Span{Faint, more})
	}
	return cut
}

// pad returns the line with exactly width columns.
func (l Line) pad(width int) Line {
	l = l.cut(width)
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

// split returns as much of a text as fits into width columns, and the rest.
func split(text string, width int) (fits, rest string) {
	for at, r := range text {
		if width -= Columns(string(r)); width < 0 {
			return text[:at], text[at:]
		}
	}
	return text, ""
}

// unbroken is what a line does not break but at its width: a word, or a Chinese character with the
// punctuation behind it.
var unbroken = regexp.MustCompile(`[^\s\p{Han}]+|\p{Han}[，。；：、！？）》”]*`)

// wrap breaks text at spaces and between Chinese characters into lines of at most width columns,
// and longer words at the width.
func wrap(text string, width int) (lines []string) {
	line, end := "", 0
	for _, at := range unbroken.FindAllStringIndex(text, -1) {
		space, word := "", text[at[0]:at[1]]
		if at[0] > end {
			space = " "
		}
		end = at[1]
		switch {
		case line == "":
			line = word
		case Columns(line+space+word) <= width:
			line += space + word
		default:
			lines, line = append(lines, line), word
		}
		for Columns(line) > max(2, width) {
			fits, rest := split(line, max(2, width))
			lines, line = append(lines, fits), rest
		}
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}

// Ink is the meaning of a piece of text; a display chooses its colour. Colour never carries
// information alone.
type Ink uint8

// The inks.
const (
	Plain  Ink = iota
	Strong     // headings, numbers that matter
	Faint      // rules, units, past states
	Warm       // waiting or blocking
	Cool       // activity
	Bright     // actions of the script
)

// ansi has the codes of the inks. Blue and orange differ for most colour-blind readers too.
var ansi = [...]string{
	Plain:  "",
	Strong: "\x1b[1m",
	Faint:  "\x1b[2m",
	Warm:   "\x1b[38;5;214m",
	Cool:   "\x1b[38;5;75m",
	Bright: "\x1b[1;38;5;159m",
}

const resetInk = "\x1b[0m"

// inkOf returns the ink of an actor's name.
func inkOf(who Who) Ink {
	switch who {
	case You, Operator, Demo:
		return Bright
	case Worker, Deleter, Server:
		return Warm
	default:
		return Cool
	}
}

// The characters of pictures. Each is one column wide.
const (
	full, empty = "█", "░" // of bars
	more        = "…"      // something was cut off
	mark        = "▸"      // what is happening now
)

// bar draws left out of most. Only 0 is drawn as an empty bar, and only most as a full one.
func bar(t Type, width int) Line {
	left := 0
	if t.Most > 0 {
		left = (t.Left*width + t.Most/2) / t.Most
	}
	if t.Left > 0 {
		left = max(left, 1)
	}
	if t.Left < t.Most && width > 1 {
		left = min(left, width-1)
	}
	return Line{{Cool, strings.Repeat(full, left)}, {Faint, strings.Repeat(empty, width-left)}}
}

// numberWidth is the width of the number behind a bar.
const numberWidth = 5

// barRow draws a bar with its name and its number, width columns in all, name of them for the name.
func barRow(t Type, name, width int) Line {
	ink := Strong
	figure := fmt.Sprintf("%*d", numberWidth, t.Left)
	if t.Left == 0 {
		ink = Faint
		if t.Most > 0 {
			figure = fmt.Sprintf("%*s", numberWidth, "gone")
		}
	}
	row := inked(Plain, t.Name).pad(name)
	row = append(row, Span{Plain, " "})
	row = append(row, bar(t, max(1, width-name-numberWidth-2))...)
	return append(row, Span{Plain, " "}, Span{ink, figure})
}
