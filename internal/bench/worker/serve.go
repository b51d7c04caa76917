package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"orrery/internal/bench"
)

// Serve answers requests, one a line, until the input ends: then it stops a scenario that is running and returns nil. It
// returns the context's error if that ended first, and then leaves a goroutine behind that ends with the input.
func Serve(ctx context.Context, scenarios []bench.Scenario, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	byName := make(map[string]bench.Scenario, len(scenarios))
	for _, s := range scenarios {
		if _, twice := byName[s.Name]; twice {
			return fmt.Errorf("two scenarios are called %s", s.Name)
		}
		byName[s.Name] = s
	}

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
			reply := run(ctx, byName, line)
			if ctx.Err() != nil {
				continue
			}
			if err := encoder.Encode(reply); err != nil {
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

func run(ctx context.Context, byName map[string]bench.Scenario, line []byte) answer {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: fmt.Sprintf("not a request: %v", err)}
	}
	effort, err := parseEffort(asked.Effort)
	if err != nil {
		return answer{Error: err.Error()}
	}
	scenario, ok := byName[asked.Scenario]
	if !ok {
		return answer{Error: fmt.Sprintf("there is no scenario %q here", asked.Scenario)}
	}
	if !scenario.Fresh {
		collect()
	}
	outcome, err := scenario.Run(ctx, effort, nil)
	collect()
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Outcome: &outcome}
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
