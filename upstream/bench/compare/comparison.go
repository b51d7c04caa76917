package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"orrery/internal/lab/bench"
)

// Config configures a comparison.
type Config struct {
	// Measures are the measures to take.
	Measures []Measure
	// Rounds is the number of rounds of each, at least 1. Fewer than five prove little.
	Rounds int
	Effort bench.Effort
	// Say is called with a line before each scenario, and with each error. It may be nil.
	Say func(text string)
}

// limit bounds the time of one side for one scenario.
const limit = 3 * time.Minute

// Run takes the measures. It returns the records in the order of the measures, and the joined
// errors of those that failed. It returns at once with the context's error when the context ends.
func Run(ctx context.Context, runner Runner, config Config) ([]Record, error) {
	all := contests(config.Measures)
	records := make(map[string]Record)
	var problems []error
	say := config.Say
	if say == nil {
		say = func(string) {}
	}
	for i, c := range all {
		say(fmt.Sprintf("[%d/%d] %s", i+1, len(all), c.scenario))
		found, err := config.run(ctx, runner, c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		problems = append(problems, err)
		for _, r := range found {
			records[r.Name] = r
		}
		if err != nil {
			say("FAILED: " + err.Error())
		}
	}
	var inOrder []Record
	for _, m := range config.Measures {
		if r, ok := records[m.Name]; ok {
			inOrder = append(inOrder, r)
		}
	}
	return inOrder, errors.Join(problems...)
}

// run runs all rounds of a scenario. A failed side ends it, as there is nothing to compare with.
// Every other round runs backwards, so that no side always follows the same one on a warm machine.
func (config Config) run(ctx context.Context, runner Runner, c contest) ([]Record, error) {
	outcomes := make(map[Side][]bench.Outcome)
	order := slices.Clone(c.sides)
	for range config.Rounds {
		for _, side := range order {
			limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %v", limit))
			outcome, err := runner.Run(limited, side, c.scenario, config.Effort)
			cancel()
			if err != nil {
				return nil, err
			}
			outcomes[side] = append(outcomes[side], outcome)
		}
		slices.Reverse(order)
	}
	var records []Record
	var problems []error
	for _, m := range c.measures {
		record, err := newRecord(m, outcomes)
		if problems = append(problems, err); err == nil {
			records = append(records, record)
		}
	}
	return records, errors.Join(problems...)
}

// Runner runs a side's scenario once. It returns when that side is idle again, so that the next one
// has the machine to itself.
type Runner interface {
	Run(ctx context.Context, side Side, scenario string, effort bench.Effort) (bench.Outcome, error)
}

// contest is one scenario, with every side that is compared over it.
type contest struct {
	scenario string
	sides    []Side
	measures []Measure
}

// contests groups the measures that one series of rounds answers, in the order of the table.
func contests(measures []Measure) []contest {
	var all []contest
	for _, m := range measures {
		at := slices.IndexFunc(all, func(c contest) bool { return c.scenario == m.Scenario })
		if at < 0 {
			at, all = len(all), append(all, contest{scenario: m.Scenario})
		}
		c := &all[at]
		c.measures = append(c.measures, m)
		for _, side := range []Side{Ours, m.Against, m.Textbook} {
			if side != "" && !slices.Contains(c.sides, side) {
				c.sides = append(c.sides, side)
			}
		}
	}
	return all
}

// runners passes each scenario to a new worker process, or to a control plane that starts when it
// is first needed.
type runners struct {
	directory string // of the programs
	say       func(text string)
	deletion  *cluster
}

// workers are the worker programs of the sides, with their arguments.
var workers = map[Side][]string{
	Ours: {"bench-ours"}, Textbook: {"bench-ours", "textbook"}, InOrder: {"bench-ours", "inorder"},
	Theirs: {"bench-theirs"}, Priority: {"bench-theirs", "priority"}, RealFIFO: {"bench-theirs", "realfifo"},
}

// Run runs a side once.
func (r *runners) Run(
	ctx context.Context, side Side, scenario string, effort bench.Effort,
) (bench.Outcome, error) {
	if !strings.HasPrefix(scenario, "deletion/") {
		command := workers[side]
		worker := bench.Worker{Side: string(side), Path: filepath.Join(r.directory, command[0]), Args: command[1:]}
		return worker.Run(ctx, scenario, effort)
	}
	if r.deletion == nil {
		rest.SetDefaultWarningHandler(rest.NoWarnings{}) // the server's, about deprecated types
		r.say("starting a control plane: etcd, kube-apiserver, kube-controller-manager")
		started, err := startCluster(ctx, programs{
			Orrery:       filepath.Join(r.directory, "orrery"),
			ControlPlane: filepath.Join(r.directory, "controlplane"),
		})
		if err != nil {
			return bench.Outcome{}, err
		}
		r.deletion = started
	}
	return r.deletion.Run(ctx, side, scenario, effort)
}

// stop stops everything that was started.
func (r *runners) stop() error {
	if r.deletion == nil {
		return nil
	}
	if err := r.deletion.Stop(); err != nil {
		return fmt.Errorf("stopping the control plane: %w", err)
	}
	return nil
}
