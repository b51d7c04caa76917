package demo

import (
	"regexp"
	"strings"
	"unicode"
)

// The characters of pictures. Each is one column wide.
const (
	full, empty = "█", "░" // of bars
	more        = "…"      // something was cut off
	mark        = "▸"      // what is happening now
)

// inks are the colours of a terminal, by what they colour. Colour never carries information alone.
// Blue and orange differ for most colour-blind readers too.
var inks = []struct {
	part *regexp.Regexp
	code string
}{
	{regexp.MustCompile(`^ ?lab demo`), "1"},
	{regexp.MustCompile(`^ {0,4}[0-9.]+ s (you|operator|demo) `), "1;38;5;159"},
	{regexp.MustCompile(`^ {0,4}[0-9.]+ s (worker|deleter|server) `), "38;5;214"},
	{regexp.MustCompile(`^ {0,4}[0-9.]+ s (\w+) `), "38;5;75"},
	{regexp.MustCompile(`[█●]+`), "38;5;75"},
	{regexp.MustCompile(`[░○─│]+`), "2"},
	{regexp.MustCompile(`▸( [0-9.]+ s)?|^ ! .*?│`), "38;5;214"},
}

// painted returns a line with terminal codes.
func painted(line string) string {
	for _, ink := range inks {
		line = ink.part.ReplaceAllString(line, "\x1b["+ink.code+"m$0\x1b[0m")
	}
	return line
}

// wide are the characters that are two columns wide: Chinese, its punctuation and full-width forms.
var wide = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x3001, Hi: 0x303e, Stride: 1}, {Lo: 0x3400, Hi: 0x4dbf, Stride: 1}, {Lo: 0x4e00, Hi: 0x9fff, Stride: 1},
	{Lo: 0xff01, Hi: 0xff60, Stride: 1},
}}

// Columns returns the width of a text on a terminal.
func Columns(text string) (columns int) {
	for _, r := range text {
		columns++
		if unicode.Is(wide, r) {
			columns++
		}
	}
	return columns
}

// cut returns the line cut to width columns, with a mark if it was longer.
func cut(line string, width int) string {
	if Columns(line) <= width {
		return line
	}
	fits, _ := split(line, width-1)
	return fits + more
}

// pad returns the line with exactly width columns.
func pad(line string, width int) string {
	line = cut(line, width)
	return line + strings.Repeat(" ", max(0, width-Columns(line)))
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
		if line != "" || room < width && Columns(word) <= width {
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

// hanging wraps text behind head, with an indent of the other lines as wide as head, or of 4
// columns if that leaves too little room.
func hanging(head, text string, width int) (lines []string) {
	indent := Columns(head)
	if indent > width/2 {
		indent = 4
	}
	for _, words := range wrap(text, width-Columns(head), width-indent) {
		lines = append(lines, strings.TrimRight(head+words, " "))
		head = strings.Repeat(" ", indent)
	}
	return lines
}

// table draws a row for each name, with its text wrapped.
func table(rows []Row, width int) (lines []string) {
	for _, row := range rows {
		lines = append(lines, hanging("  "+pad(row.Name, longest(rows))+"  ", row.Text, width)...)
	}
	return lines
}

// longest is the width of the longest name.
func longest(rows []Row) (width int) {
	for _, row := range rows {
		width = max(width, Columns(row.Name))
	}
	return width
}
