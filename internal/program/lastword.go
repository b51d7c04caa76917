package program

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orrery/restclient"
)

// lastWordLimit is how long a program waits for its last line to be written.
const lastWordLimit = time.Second

// LastWord writes the last line of the program, without secrets. A blocked pipe does not keep the
// program from ending.
func LastWord(stderr io.Writer, name, sentence string) {
	writeLast(stderr, name+": "+restclient.Redact(sentence))
}

// LastObject is LastWord for a command whose log is JSON, so that each of its lines is an object.
func LastObject(stderr io.Writer, sentence string) {
	line, err := json.Marshal(struct {
		Level   string    `json:"level"`
		Error   string    `json:"error"`
		Time    time.Time `json:"time"`
		Message string    `json:"message"`
	}{"error", restclient.Redact(sentence), time.Now().UTC(), "the run has failed"})
	if err != nil {
		panic(fmt.Errorf("program: %w", err)) // a struct of strings can be encoded
	}
	writeLast(stderr, string(line))
}

func writeLast(stderr io.Writer, line string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		fmt.Fprintln(stderr, line)
	}()
	select {
	case <-written:
	case <-time.After(lastWordLimit):
	}
}

// logsJSON reports whether the arguments choose JSON for the log of a command that has one. It
// looks at the words only: they may not be parsable.
func logsJSON(root *cobra.Command, args []string) bool {
	const flag = "--log-format"
	command, words, err := root.Find(args)
	if err != nil || command.Flags().Lookup(strings.TrimPrefix(flag, "--")) == nil {
		return false
	}
	format := ""
	for i, word := range words {
		if value, ok := strings.CutPrefix(word, flag+"="); ok {
			format = value
		} else if word == flag && i+1 < len(words) {
			format = words[i+1]
		}
	}
	return format == "json"
}
