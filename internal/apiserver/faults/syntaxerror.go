package faults

import "strconv"

// SyntaxError says what is wrong with the text of a fault, in words for whoever typed it.
type SyntaxError struct {
	// Text is the whole line.
	Text string
	// Problem says what is wrong with it and what would be right.
	Problem string
}

func (e *SyntaxError) Error() string { return "fault " + strconv.Quote(e.Text) + ": " + e.Problem }
