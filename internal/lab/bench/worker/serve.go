package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"orrery/internal/lab/bench"
)

// Serve answers requests, one a line, until the input ends: then it stops a scenario that is running and returns nil. It
// returns the context's error if that ended first, and then leaves a goroutine behind that ends with the input.
func Serve(ctx context.Context, scenarios []bench.Scenario, in io.Reader, out io.Writer) error {
	if err := checkNames(scenarios); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() {
		// The end of the input is how a parent's death is noticed, in the middle of a scenario as well.
		defer cancel()
		ended <- readLines(ctx, in, lines)
	}()
	encoder := json.NewEncoder(out)
	for {
		select {
		case line := <-lines:
			answer := reply(ctx, scenarios, line)
			if ctx.Err() != nil {
				continue
			}
			if err := encoder.Encode(answer); err != nil {
				return fmt.Errorf("answering: %w", err)
			}
		case err := <-ended:
			return err
		case <-ctx.Done():
			select {
			case err := <-ended:
				return err
			default:
				return ctx.Err()
			}
		}
	}
}

// readLines hands over each line of the input, until that ends or nobody listens.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	scanner := bufio.NewScanner(in)
	for scanner.Scan() {
		line := append([]byte(nil), scanner.Bytes()...)
		select {
		case lines <- line:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return scanner.Err()
}

// reply does what a line asks for.
func reply(ctx context.Context, scenarios []bench.Scenario, line []byte) answer {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: fmt.Sprintf("not a request: %v", err)}
	}
	if asked.List {
		var list []listed
		for _, s := range scenarios {
			list = append(list, listed{Name: s.Name, Fresh: s.Fresh})
		}
		return answer{Scenarios: list}
	}
	effort, err := parseEffort(asked.Effort)
	if err != nil {
		return answer{Error: err.Error()}
	}
	outcome, err := run(ctx, scenarios, asked.Scenario, effort)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Outcome: &outcome}
}

func run(ctx context.Context, scenarios []bench.Scenario, name string, effort bench.Effort) (bench.Outcome, error) {
	i := slices.IndexFunc(scenarios, func(s bench.Scenario) bool { return s.Name == name })
	if i < 0 {
		return bench.Outcome{}, fmt.Errorf("there is no scenario %q here", name)
	}
	collect()
	defer collect()
	outcome, err := scenarios[i].Run(ctx, effort, nil)
	if err != nil {
		return bench.Outcome{}, err
	}
	for figure, value := range outcome.Figures {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return bench.Outcome{}, fmt.Errorf("%s is %v", figure, value)
		}
	}
	return outcome, nil
}

func checkNames(scenarios []bench.Scenario) error {
	seen := make(map[string]bool, len(scenarios))
	for _, s := range scenarios {
		if seen[s.Name] {
			return fmt.Errorf("two scenarios are called %s", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// collect leaves nothing for the collector to do: the second cycle finishes the sweep of the first and frees what
// finalizers and pools had held on to.
func collect() {
	runtime.GC()
	runtime.GC()
}

func parseEffort(name string) (bench.Effort, error) {
	for _, effort := range []bench.Effort{bench.Full, bench.Quick} {
		if effort.String() == name {
			return effort, nil
		}
	}
	return bench.Full, fmt.Errorf("there is no effort %q", name)
}

// Refusal is what a worker said instead of an outcome: that it has no such scenario, or what went wrong in it.
type Refusal struct {
	// Text is the worker's error, which has crossed a process boundary and is only text by now.
	Text string
}

func (e *Refusal) Error() string { return e.Text }
