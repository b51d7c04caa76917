package faults

import "strconv"

// SyntaxError says what is wrong with the text of a fault, in words for whoever typed it.
type SyntaxError struct {
	// Text is the whole line.
	Text string
	// Problem says what is wrong with it and what would be right.
	Problem string
}

func (e *SyntaxError) Error() string { return "fault " + printable(e.Text) + ": " + e.Problem }

// printable returns text as it can be shown: in quotes, with what is no letter written out, and not without end.
func printable(text string) string {
	const enough = 200
	if runes := []rune(text); len(runes) > enough {
		text = string(runes[:enough]) + "…"
	}
	return strconv.Quote(text)
}
