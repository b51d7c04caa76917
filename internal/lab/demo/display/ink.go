package display

import "orrery/internal/lab/demo/story"

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

// Glyphs are the characters of pictures. Each is one column wide.
type Glyphs struct {
	Full, Empty string // of bars
	Busy, Idle  string // workers
	Rule, Post  string
	Now, More   string
	Arrow       string
}

// Unicode are the glyphs for nearly all terminals.
var Unicode = Glyphs{Full: "█", Empty: "░", Busy: "●", Idle: "○", Rule: "─", Post: "│", Now: "▸", More: "…", Arrow: "→"}

// ASCII are the glyphs for the others.
var ASCII = Glyphs{Full: "#", Empty: ".", Busy: "*", Idle: "o", Rule: "-", Post: "|", Now: ">", More: "~", Arrow: ">"}
