package main

import (
	"fmt"
	"os"
	"time"

	"orrery/internal/lab/bench"
	"orrery/upstream/bench/compare"
)

// console shows on stderr how far the comparison is: a line that is rewritten, on a terminal, and a line for each
// measure when it is over.
type console struct {
	meter   bench.Meter
	display *bench.Progress // nil unless stderr is a terminal
	began   time.Time
}

func newConsole() *console {
	c := &console{began: time.Now()}
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		c.display = bench.ShowProgress(os.Stderr, &c.meter)
	}
	return c
}

// Turn shows who is at work.
func (c *console) Turn(t compare.Turn) {
	name := fmt.Sprintf("%d/%d %s: round %d of %d, %s", t.Contest, t.Contests, t.Scenario, t.Round, t.Rounds, t.Side)
	if left := t.Left.Round(time.Second); left > 0 {
		name += fmt.Sprintf("; about %v left", roughly(left))
	}
	c.meter.Begin(name, "", 0, 0)
}

// Finished prints what the rounds of a scenario have said.
func (c *console) Finished(records []compare.Record, err error) {
	c.meter.End()
	for _, r := range records {
		c.print(fmt.Sprintf("%5s  %s", time.Since(c.began).Round(time.Second), compare.Line(r)))
	}
	if err != nil {
		c.print(fmt.Sprintf("%5s  FAILED: %v", time.Since(c.began).Round(time.Second), err))
	}
}

// say prints a line that is no result.
func (c *console) say(format string, arguments ...any) { c.print(fmt.Sprintf(format, arguments...)) }

func (c *console) print(text string) {
	if c.display != nil {
		c.display.Print(text)
		return
	}
	fmt.Fprintln(os.Stderr, text)
}

// close gives the line back.
func (c *console) close() {
	if c.display != nil {
		c.display.Stop()
	}
}

// roughly rounds a guess to what can be meant by it.
func roughly(left time.Duration) time.Duration {
	switch {
	case left > 2*time.Minute:
		return left.Round(time.Minute)
	case left > 20*time.Second:
		return left.Round(10 * time.Second)
	default:
		return left
	}
}
