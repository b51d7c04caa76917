package progress

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Config says how to display. The zero value finds out what the writer is and what its user wants.
type Config struct {
	// Width returns the columns of the terminal, and is asked before each line, because people drag windows. Default:
	// the writer is asked, if it is a terminal that can rewrite a line. Whoever sets it decides that it is one.
	Width func() int
	// Plain wants a line a phase even on a terminal.
	Plain bool
	// Look is how lines look. Default: what the environment says, NO_COLOR and the locale.
	Look *Look
	// Every is how often a line is drawn. Default: ten times a second.
	Every time.Duration
}

// Look is how lines look.
type Look struct {
	Color bool
	ASCII bool // no other letters
}

func (c Config) withDefaults(w io.Writer) Config {
	if c.Width == nil && os.Getenv("TERM") != "dumb" {
		c.Width = widthOf(w)
	}
	if c.Plain {
		c.Width = nil
	}
	if c.Look == nil {
		c.Look = &Look{Color: os.Getenv("NO_COLOR") == "", ASCII: wantsASCII()}
	}
	if c.Every <= 0 {
		c.Every = 100 * time.Millisecond
	}
	return c
}

// widthOf returns the function that asks a terminal for its width, or nil if w is no terminal.
func widthOf(w io.Writer) func() int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 {
			return 80 // a serial line does not know
		}
		return width
	}
}

// wantsASCII tells whether the locale asks for it. One that says nothing is the default of a container, whose terminal
// shows other letters all the same.
func wantsASCII() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			return value == "C" || value == "POSIX"
		}
	}
	return false
}
