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
		if color && span.Ink != Plain {
			span.Text = string(span.Ink) + span.Text + resetInk
		}
		b.WriteString(span.Text)
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

// wrap breaks text at spaces and between Chinese characters into lines, the first of at most first
// columns and the others of at most width. Longer words are broken at the width.
func wrap(text string, first, width int) (lines []string) {
	line, end, room := "", 0, max(2, first)
	flush := func(full, rest string) {
		lines, line, room = append(lines, full), rest, max(2, width)
	}
	for _, at := range unbroken.FindAllStringIndex(text, -1) {
		space, word := "", text[at[0]:at[1]]
		if at[0] > end && line != "" {
			space = " "
		}
		end = at[1]
		if Columns(line+space+word) <= room {
			line += space + word
			continue
		}
		if line != "" {
			flush(line, "")
		}
		for line = word; Columns(line) > room; {
			flush(split(line, room))
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Ink is the terminal's code for the meaning of a piece of text. Colour never carries information
// alone.
type Ink string

// The inks. Blue and orange differ for most colour-blind readers too.
const (
	Plain  Ink = ""
	Strong Ink = "\x1b[1m"          // headings, numbers that matter
	Faint  Ink = "\x1b[2m"          // rules, units, past states
	Warm   Ink = "\x1b[38;5;214m"   // waiting or blocking
	Cool   Ink = "\x1b[38;5;75m"    // activity
	Bright Ink = "\x1b[1;38;5;159m" // actions of the script
)

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

// numberWidth is the width of the number behind a bar.
const numberWidth = 5

// drawBars draws a bar for each type, with its name and its number, in width columns.
func drawBars(types []Type, width int) (rows []Line) {
	const shortestBar = 8
	name := min(longest(types, Type.name), max(width*2/3, width-shortestBar-numberWidth-2))
	for _, t := range types {
		ink, figure := Strong, fmt.Sprint(t.Left)
		if t.Left == 0 {
			ink = Faint
			if t.Most > 0 {
				figure = "gone"
			}
		}
		bar := Bar(t.Left, t.Most, max(1, width-name-numberWidth-2))
		row := append(plain(" "), inked(Plain, t.Name).pad(name)...)
		rest := strings.TrimLeft(bar, full)
		rows = append(rows, append(row, Span{Cool, " " + strings.TrimSuffix(bar, rest)}, Span{Faint, rest},
			Span{ink, fmt.Sprintf(" %*s", numberWidth, figure)}))
	}
	return rows
}
