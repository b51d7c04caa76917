// Command bench measures this project against client-go: both do the same work in turns, each in a
// process of its own. The textbook forms take turns as well, without a target. [Measures] is the
// table of what is compared with the targets. Each round of a scenario runs every side once, in an
// order that is reversed from round to round (A B, B A, ...), so that a disturbance of the machine
// affects both and the ratio of a round is worth more than its figures. Sides whose proofs differ
// did different work, which is an error. A worker process, or a controller on a real control plane,
// runs a side; the records become a table, bench.json and the page, where every word that depends
// on a figure is computed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orrery/internal/lab/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var o options
	err := o.parse(os.Args[1:])
	if err == nil {
		err = o.compare(ctx)
	}
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "Stopped. Nothing was written.")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// options holds the flags.
type options struct {
	only        string
	rounds      int
	quick, list bool
	jsonFile    string
	page        string // directory of benchmarks.md; "" for none
}

const usage = `bench compares this project with client-go. Both do the same work in turns, A B, B A, A B, each in a process
of its own, and prove that they did it; what counts is the ratio of their medians.

  bench                     everything: twenty-five minutes on two cores; writes docs/measure/benchmarks.md
  bench -only queue/cycle   one scenario, or a group of them (queue), or one measure ("queue/cycle ns/op")
  bench -quick              less work, one round, only what is exact (allocations, bytes, requests): fails if a target is missed

"make bench" and "make bench-quick" build what this needs and run it. Leave the machine alone meanwhile.

How to read the table: ratio is ours divided by theirs; textbook is our textbook form's figure, and that divided by
theirs; rounds are the least and the greatest ratio of any round.

Flags:
`

func (o *options) parse(arguments []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main reports a wrong flag
	flags.StringVar(&o.only, "only", "",
		"compare only these `names`: groups, scenarios or measures, separated by commas")
	flags.IntVar(&o.rounds, "rounds", 0, "how many `rounds`: 5 unless it is quick, where it is 1")
	flags.BoolVar(&o.quick, "quick", false, "guard against regressions: less work, and only exact figures")
	flags.BoolVar(&o.list, "list", false, "print what can be compared")
	flags.StringVar(&o.jsonFile, "json", "",
		"write the records to this `file`: build/bench.json when everything is compared, none otherwise")
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
	}
	if err != nil {
		return err
	}
	if rest := flags.Args(); len(rest) > 0 {
		return fmt.Errorf("%q is not a flag; did you mean -only %s?", rest[0], strings.Join(rest, ","))
	}
	if o.rounds < 0 {
		return fmt.Errorf("-rounds %d: at least one is needed", o.rounds)
	}
	if o.rounds == 0 {
		o.rounds = 5
		if o.quick {
			o.rounds = 1
		}
	}
	if !o.quick && o.only == "" { // the page needs every measure
		o.page = "docs/measure"
		if o.jsonFile == "" {
			o.jsonFile = filepath.Join("build", "bench.json")
		}
	}
	return nil
}

// measures returns the selected measures.
func (o *options) measures() ([]Measure, error) {
	measures := Measures()
	if o.quick {
		measures = slices.DeleteFunc(measures, func(m Measure) bool { return !m.Quick })
		for i := range measures {
			measures[i].Textbook = "" // it has no target
		}
	}
	if o.only == "" {
		return measures, nil
	}
	return Only(measures, strings.Split(o.only, ","))
}

// compare measures, prints a table, and writes the selected files.
func (o *options) compare(ctx context.Context) (err error) {
	measures, err := o.measures()
	if err != nil {
		return err
	}
	if o.list {
		for _, m := range measures {
			fmt.Printf("%-60s %s\n", m.Name, m.Title)
		}
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	programs := filepath.Dir(self) // with bench-ours, bench-theirs, orrery and controlplane
	runners := &runners{directory: programs, say: say}
	defer func() { err = errors.Join(err, runners.stop()) }()
	machine := ThisMachine(filepath.Join(programs, "bench-theirs"), filepath.Join(programs, "controlplane"))
	if warning := machine.Busy(); warning != "" {
		say(warning)
	}
	config := Config{Measures: measures, Rounds: o.rounds, Say: say}
	if o.quick {
		config.Effort = bench.Quick
	}
	records, err := Run(ctx, runners, config)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	results := Results{Machine: machine, Records: records}
	if err := results.WriteTable(os.Stdout); err != nil {
		return err
	}
	if err != nil {
		o.page = "" // the page needs both sides
		err = fmt.Errorf("some measures failed, so the page is unchanged:\n%w", err)
	} else if o.quick {
		err = MissedTargets(records)
	}
	return errors.Join(err, o.write(results))
}

// say shows progress.
func say(text string) { fmt.Fprintln(os.Stderr, text) }

// write writes the records and the page to the selected files.
func (o *options) write(results Results) error {
	if o.jsonFile != "" {
		records, err := results.JSON()
		if err != nil {
			return err
		}
		if err := writeFile(o.jsonFile, records); err != nil {
			return err
		}
	}
	if o.page == "" {
		return nil
	}
	page, err := Page(results)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(o.page, "benchmarks.md"), page)
}

func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		return err
	}
	fmt.Println("wrote", name)
	return nil
}
