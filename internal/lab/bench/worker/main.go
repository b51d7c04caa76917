// Package worker runs scenarios in separate processes, so that two subjects can be compared without
// sharing a heap, a scheduler or a garbage collector. A worker is a program that links one subject
// and calls [Main] with its scenarios; a comparison starts one [Process] per subject and lets them
// take turns. Calls are JSON-RPC (net/rpc/jsonrpc) over standard input and output. One scenario
// runs at a time, and the worker collects garbage before and after it: no scenario pays for an
// earlier one, and an idle worker does not sweep during the other side's turn. A scenario with
// [bench.Scenario].Fresh gets a new process. A worker stops when its input ends, so it never
// survives its parent; [Process.Stop] and the end of a context stop the worker and all its
// children, by force if needed.
package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"orrery/internal/lab/bench"
)

// cancelTimeout is how long a worker without a parent waits for its scenario to notice the
// cancellation. It is enough on any machine.
const cancelTimeout = time.Minute

const usage = `%s runs scenarios of the comparison for one side.

  %[1]s                      read requests from standard input (JSON-RPC); this is how bench uses it
  %[1]s -list                what there is
  %[1]s [flags] SCENARIO...  run scenarios once and print what they found

Flags:
`

// Main is the main function of a worker, and returns its exit status. Without arguments it serves
// standard input and output until the input ends. With the names of scenarios it runs these, for a
// look at one of them or its profile.
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
	var effort bench.Effort
	list := flags.Bool("list", false, "print the names of the scenarios")
	flags.TextVar(&effort, "effort", bench.Full, "how much work to do: full or quick")
	rounds := flags.Int("rounds", 1, "number of rounds; a profile covers all of them")
	cpuProfile := flags.String("cpuprofile", "", "write a CPU profile of the scenarios to this `file`")
	memProfile := flags.String("memprofile", "", "write a profile of all allocations to this `file`")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	switch {
	case *list:
		for _, s := range scenarios {
			fmt.Println(s.Name)
		}
		return nil
	case flags.NArg() == 0:
		// A scenario that ignores its context must not outlive the parent.
		exit := func() { time.AfterFunc(cancelTimeout, func() { os.Exit(1) }) }
		return Serve(scenarios, input{os.Stdin, exit}, os.Stdout)
	}
	if *memProfile != "" {
		runtime.MemProfileRate = 16 << 10
	}
	return profiled(*cpuProfile, *memProfile, func() error {
		for _, name := range flags.Args() {
			for range *rounds {
				outcome, err := run(context.Background(), scenarios, Request{Scenario: name, Effort: effort})
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				printOutcome(os.Stdout, name, outcome)
			}
		}
		return nil
	})
}

// profiled calls work and writes the profiles that have a file.
func profiled(cpuProfile, memProfile string, work func() error) error {
	if cpuProfile != "" {
		file, err := os.Create(cpuProfile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if err := work(); err != nil || memProfile == "" {
		return err
	}
	file, err := os.Create(memProfile)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(file, 0), file.Close())
}

func printOutcome(out io.Writer, name string, outcome bench.Outcome) {
	fmt.Fprintln(out, name)
	for _, figure := range slices.Sorted(maps.Keys(outcome.Figures)) {
		fmt.Fprintf(out, "  %-20s %.6g\n", figure, outcome.Figures[figure])
	}
	fmt.Fprintf(out, "  %s\n", outcome.Proof)
}
