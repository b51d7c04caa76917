package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"orrery/internal/lab/chaos"
)

// work plays the seeds that come in, a line each, and answers each with a line of JSON. It does not return. A seed that panics, or
// leaves goroutines behind that nobody can end, takes the process with it; who started it sees that.
func work(in io.Reader, out io.Writer, duration time.Duration) {
	testing.Init()
	if err := flag.CommandLine.Parse(nil); err != nil { // bubbles are for tests, and tests want to have flags
		panic(err)
	}
	any := func(string, string) (bool, error) { return true, nil }
	testing.Main(any, []testing.InternalTest{{Name: "seeds", F: func(t *testing.T) { answer(t, in, out, duration) }}}, nil, nil)
}

func answer(t *testing.T, in io.Reader, out io.Writer, duration time.Duration) {
	answers := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		seed, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			panic(err)
		}
		var report *chaos.Report
		synctest.Test(t, func(*testing.T) { report = chaos.Play(chaos.NewPlan(seed, duration)) })
		if err := answers.Encode(report); err != nil {
			return // nobody listens any more
		}
	}
}
