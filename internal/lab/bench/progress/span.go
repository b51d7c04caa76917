package progress

import (
	"strings"
	"unicode/utf8"
)

// span is text in one ink. All letters that are drawn are one column wide.
type span struct {
	ink  ink
	text string
}

type ink string

// The inks, as codes of a terminal.
const (
	plain  ink = ""
	strong ink = "\x1b[1m"
	faint  ink = "\x1b[2m"
	cool   ink = "\x1b[38;5;75m"

	reset = "\x1b[0m"
)

func columns(line []span) int {
	n := 0
	for _, s := range line {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

func encode(line []span, look Look) string {
	var b strings.Builder
	for _, s := range line {
		if s.text == "" {
			continue
		}
		if !look.Color || s.ink == plain {
			b.WriteString(s.text)
			continue
		}
		b.WriteString(string(s.ink) + s.text + reset)
	}
	return b.String()
}
