package display

import "orrery/internal/lab/demo/story"

// Ink is what a piece of text is, for a display to choose how it looks. Nothing is said by colour alone: whoever sees no
// colours reads the same.
type Ink uint8

// The inks.
const (
	Plain  Ink = iota
	Strong     // headings, numbers that matter
	Faint      // rules, units, what is over
	Warm       // what waits or is in the way
	Cool       // what moves
	Bright     // the script: who did something from outside
)

// ansi are the codes of the inks. Blue and orange are told apart by nearly everybody; light and dark do the rest.
var ansi = [...]string{
	Plain:  "",
	Strong: "\x1b[1m",
	Faint:  "\x1b[2m",
	Warm:   "\x1b[38;5;214m",
	Cool:   "\x1b[38;5;75m",
	Bright: "\x1b[1;38;5;159m",
}

const resetInk = "\x1b[0m"

// inkOf is the ink of the name of a member of the cast.
func inkOf(who story.Who) Ink {
	switch who {
	case story.You, story.Operator, story.Demo:
		return Bright
	case story.Worker, story.Deleter, story.Server:
		return Warm
	default:
		return Cool
	}
}
