package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"orrery/internal/lab/bench"
)

// patience is how long a worker whose parent is gone waits for its scenario to notice: long enough for one that does on any machine.
const patience = time.Minute

const usage = `%s runs scenarios of the comparison for one side.

  %[1]s                      read requests from standard input, one line of JSON each; this is how bench uses it
  %[1]s -list                what there is
  %[1]s [flags] SCENARIO...  run scenarios once and print what they found

Flags:
`

// Main is the main function of a worker, and returns its exit status. Without arguments it serves standard input and
// output until the input ends; with the names of scenarios it runs these, for somebody who wants to look at one alone or
// to see its profile.
func Main(scenarios []bench.Scenario, arguments []string) int {
	err := runMain(scenarios, arguments)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	default:
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
}

func runMain(scenarios []bench.Scenario, arguments []string) error {
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), usage, flags.Name())
		flags.PrintDefaults()
	}
	var alone solo
	list := flags.Bool("list", false, "print the names of the scenarios")
	flags.StringVar(&alone.effort, "effort", bench.Full.String(), "how much work to do: full or quick")
	flags.IntVar(&alone.rounds, "rounds", 1, "how often to do it; the profile is of all rounds together")
	flags.StringVar(&alone.cpuProfile, "cpuprofile", "", "write a CPU profile of the scenarios to this `file`")
	flags.StringVar(&alone.memProfile, "memprofile", "", "write a profile of all allocations to this `file`")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	switch {
	case *list:
		for _, s := range scenarios {
			fmt.Println(s.Name)
		}
		return nil
	case flags.NArg() > 0:
		return alone.run(context.Background(), os.Stdout, scenarios, flags.Args())
	default:
		return Serve(context.Background(), scenarios, endOfParent(os.Stdin), os.Stdout)
	}
}

// endOfParent passes on what is read, and at the end of it gives the process a minute: a scenario that does not
// listen to its context must not outlive whoever asked for it.
func endOfParent(input io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := input.Read(p)
		if err != nil {
			time.AfterFunc(patience, func() { os.Exit(1) })
		}
		return n, err
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
