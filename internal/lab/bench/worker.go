package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"slices"
)

// Worker describes how to start a worker: a program that links one subject and calls [WorkerMain]
// with its scenarios. So two subjects are compared without sharing a heap, a scheduler or a garbage
// collector. A comparison starts one for each turn with Run: no scenario pays for an earlier one.
type Worker struct {
	// Side is the name in errors: "ours".
	Side string
	// Path is the program, Args are its first arguments.
	Path string
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Stderr receives the worker's messages. Nil discards them.
	Stderr io.Writer
}

// answer is what a worker prints with -json.
type answer struct {
	Outcome
	Error string `json:"error,omitempty"`
}

// Run runs a scenario in a new process. Errors name scenario and side. The end of the context kills
// the process.
func (w Worker) Run(ctx context.Context, scenario string, effort Effort) (Outcome, error) {
	outcome, err := w.run(ctx, scenario, effort)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s on %s: %w", scenario, w.Side, err)
	}
	return outcome, nil
}

func (w Worker) run(ctx context.Context, scenario string, effort Effort) (Outcome, error) {
	arguments := append(slices.Clone(w.Args), "-json", fmt.Sprintf("-quick=%t", effort == Quick), scenario)
	process := exec.CommandContext(ctx, w.Path, arguments...)
	process.Env = append(os.Environ(), w.Env...)
	var out bytes.Buffer
	process.Stdout, process.Stderr = &out, w.Stderr
	err := process.Run()
	var got answer
	switch {
	case ctx.Err() != nil:
		return got.Outcome, context.Cause(ctx)
	case err != nil:
		return got.Outcome, fmt.Errorf("the worker process has failed: %w", err)
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		return got.Outcome, err
	}
	if got.Error != "" {
		return got.Outcome, errors.New(got.Error)
	}
	return got.Outcome, nil
}

const workerUsage = `%s runs scenarios of the comparison for one side.

  %[1]s -list                what there is
  %[1]s [flags] SCENARIO...  run scenarios and print what they found

Flags:
`

// WorkerMain is the main function of a worker, and returns its exit status. It runs the scenarios
// that the arguments name.
func WorkerMain(scenarios []Scenario, arguments []string) int {
	err := runWorker(scenarios, arguments)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	default:
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
}

func runWorker(scenarios []Scenario, arguments []string) error {
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), workerUsage, flags.Name())
		flags.PrintDefaults()
	}
	list := flags.Bool("list", false, "print the names of the scenarios")
	quick := flags.Bool("quick", false, "do less of the same work")
	asJSON := flags.Bool("json", false, "print the outcome of each scenario, or its error, as JSON")
	rounds := flags.Int("rounds", 1, "number of rounds; a profile covers all of them")
	cpuProfile := flags.String("cpuprofile", "", "write a CPU profile of the scenarios to this `file`")
	memProfile := flags.String("memprofile", "", "write a profile of all allocations to this `file`")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	if *list {
		for _, s := range scenarios {
			fmt.Println(s.Name)
		}
		return nil
	}
	effort := Full
	if *quick {
		effort = Quick
	}
	if *memProfile != "" {
		runtime.MemProfileRate = 16 << 10
	}
	return profiled(*cpuProfile, *memProfile, func() error {
		for _, name := range flags.Args() {
			for range *rounds {
				outcome, err := runScenario(scenarios, name, effort)
				switch {
				case *asJSON && err != nil:
					err = json.NewEncoder(os.Stdout).Encode(answer{Error: err.Error()})
				case *asJSON:
					err = json.NewEncoder(os.Stdout).Encode(outcome)
				case err == nil:
					printOutcome(os.Stdout, name, outcome)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	})
}

// runScenario runs a scenario once, without the garbage of an earlier round.
func runScenario(scenarios []Scenario, name string, effort Effort) (Outcome, error) {
	i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return Outcome{}, fmt.Errorf("there is no scenario %q here", name)
	}
	runtime.GC()
	runtime.GC() // the second frees what finalizers and pools held
	outcome, err := scenarios[i].Run(context.Background(), effort)
	for figure, value := range outcome.Figures {
		if err == nil && (math.IsNaN(value) || math.IsInf(value, 0)) {
			err = fmt.Errorf("%s is %v", figure, value)
		}
	}
	return outcome, err
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

func printOutcome(out io.Writer, name string, outcome Outcome) {
	fmt.Fprintln(out, name)
	for _, figure := range slices.Sorted(maps.Keys(outcome.Figures)) {
		fmt.Fprintf(out, "  %-20s %.6g\n", figure, outcome.Figures[figure])
	}
	fmt.Fprintf(out, "  %s\n", outcome.Proof)
}
