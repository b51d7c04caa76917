package credentials

import (
	"fmt"
	"strings"
)

// ExecErrorKind tells the ways apart in which an exec plugin can fail.
type ExecErrorKind int

const (
	ExecMisconfigured  ExecErrorKind = iota // the configuration cannot work
	ExecNotFound                            // there is no such command
	ExecNotInteractive                      // it must speak with the user, and nobody sits there
	ExecFailed                              // it could not be started, or ended with an error
	ExecBadOutput                           // it did not print a usable ExecCredential
	ExecCanceled                            // nobody waited for it any more
)

// ExecError says why an exec plugin yielded no credentials. Arguments, environment and output of the plugin may be
// secret and are never part of it.
type ExecError struct {
	Kind        ExecErrorKind
	Command     string
	Problem     string // a clause
	InstallHint string // of the configuration; only if the command was not found
	Err         error  // may be nil
}

func (e *ExecError) Error() string {
	text := fmt.Sprintf("exec plugin %q %s", e.Command, e.Problem)
	if e.InstallHint != "" {
		text += ": " + printable(e.InstallHint)
	}
	return text
}

func (e *ExecError) Unwrap() error { return e.Err }

// printable makes one line of a text that comes from a configuration file and goes to a terminal: no escape sequences
// that would move the cursor or change colours, no line breaks.
func printable(text string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || (r >= 0x7f && r <= 0x9f):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(clean), " ")
}
