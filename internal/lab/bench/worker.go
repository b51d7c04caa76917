package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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
}

// Run runs a scenario in a new process. Errors name scenario and side, and have the process's
// message. The end of the context kills the process.
func (w Worker) Run(ctx context.Context, scenario string, effort Effort) (outcome Outcome, err error) {
	arguments := append(slices.Clone(w.Args), fmt.Sprintf("-quick=%t", effort == Quick), scenario)
	process := exec.CommandContext(ctx, w.Path, arguments...)
	var out, message bytes.Buffer
	process.Stdout, process.Stderr = &out, &message
	err = process.Run()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(message.Bytes()))
	default:
		err = json.Unmarshal(out.Bytes(), &outcome)
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("%s on %s: %w", scenario, w.Side, err)
	}
	return outcome, nil
}

// WorkerMain is the main function of a worker, and returns its exit status. It runs the scenarios
// that the arguments name, of the form that the first argument names, or else of the form "".
func WorkerMain(forms map[string][]Scenario, arguments []string) int {
	err := runWorker(forms, arguments[0], arguments[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(os.Stderr, "Error:", err)
	return 1
}

func runWorker(forms map[string][]Scenario, program string, arguments []string) error {
	scenarios := forms[""]
	if len(arguments) > 0 {
		if form, ok := forms[arguments[0]]; ok {
			scenarios, arguments = form, arguments[1:]
		}
	}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.Usage = func() {
		forms := slices.Sorted(maps.Keys(forms))
		fmt.Fprintf(flags.Output(), "%s [form] [flags] SCENARIO... prints outcomes as JSON. Forms: %q\n",
			program, forms)
		flags.PrintDefaults()
	}
	list := flags.Bool("list", false, "print the names of the scenarios")
	quick := flags.Bool("quick", false, "do less of the same work")
	rounds := flags.Int("rounds", 1, "number of rounds; a profile covers all of them")
	profile := flags.String("cpuprofile", "", "write a CPU profile of the scenarios to this `file`")
	if err := flags.Parse(arguments); err != nil {
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
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	for _, name := range flags.Args() {
		for range *rounds {
			outcome, err := runScenario(scenarios, name, effort)
			if err != nil {
				return err
			}
			if err := encoder.Encode(outcome); err != nil {
				return err
			}
		}
	}
	return nil
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
