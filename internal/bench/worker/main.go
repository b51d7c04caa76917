package worker

import (
	"context"
	"fmt"
	"os"
	"time"

	"orrery/internal/bench"
)

// patience is how long a worker whose parent is gone waits for its scenario to notice.
const patience = 5 * time.Second

// Main is the main function of a worker: it serves standard input and output until the input ends, and returns the exit
// status.
func Main(scenarios []bench.Scenario) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	input := &ending{reader: os.Stdin, ended: func() {
		// A scenario that does not listen to its context must not keep the process alive.
		time.AfterFunc(patience, func() { os.Exit(1) })
	}}
	if err := Serve(ctx, scenarios, input, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// ending is a reader that says when it has come to its end.
type ending struct {
	reader *os.File
	ended  func()
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.reader.Read(p)
	if err != nil {
		e.ended()
	}
	return n, err
}
