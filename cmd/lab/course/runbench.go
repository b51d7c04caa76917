package course

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
	benchreport "orrery/internal/lab/bench/report"
	"orrery/internal/lab/course/manifest"
	labreport "orrery/internal/lab/course/report"
	"orrery/internal/lab/course/steps"
)

// benchRounds is how often each program is measured. The table shows medians.
const benchRounds = 3

// benchDuration is how long each phase of a run takes.
const benchDuration = "1s"

// contender is a column of the table.
type contender struct {
	name, binary, design string
	rounds               []bench.Result
}

// runBench measures the learner's page beside the reference. Both are built as a laboratory, and
// take turns, so that a disturbance of the machine affects them alike.
func (s *session) runBench(ctx context.Context, chosen *choice, dir string) error {
	name := chosen.run.Bench
	if name == "" {
		var with []string
		for _, lab := range s.labs {
			if lab.Run.Bench != "" {
				with = append(with, lab.ID)
			}
		}
		return s.refuse("run-no-bench", strings.Join(with, ", "))
	}
	mine, reference := filepath.Join(dir, executable), filepath.Join(dir, "reference.exe")
	lay, err := s.build(ctx, chosen, "cmd/lab", dir, mine)
	if err != nil {
		return err
	}
	output, ok, err := steps.Go(ctx, s.folder.Repository, "build", "-buildvcs=false", "-o", reference, "./cmd/lab")
	if err != nil || !ok {
		return errors.Join(err, errors.New(lastLine(output)))
	}
	form := benchForm(chosen.run)
	contenders := []*contender{
		{name: "yours", binary: mine, design: form},
		{name: form, binary: reference, design: form},
		{name: "fast", binary: reference, design: "fast"},
	}
	for round := range benchRounds {
		for _, c := range contenders {
			fmt.Fprintln(s.ErrOrStderr(), s.lang.Say("bench-round", round+1, benchRounds, c.name))
			result, said, err := measure(ctx, c.binary, name, c.design)
			if err != nil && c.binary == mine && ctx.Err() == nil {
				s.print("run-crashed")
				labreport.Explain(steps.Result{Output: said}, lay).Print(s.OutOrStdout(), s.lang, nil)
				return program.Exit(exitFailed)
			}
			if err != nil {
				return err
			}
			c.rounds = append(c.rounds, *result)
		}
	}
	s.printBench(contenders)
	return nil
}

// benchForm returns the design of the learner's page in "lab bench": the form that the gears name.
func benchForm(run manifest.Run) string {
	_, form, found := strings.Cut(run.GearSet(), "=")
	if !found {
		return run.GearSet()
	}
	return form
}

// measure runs a benchmark once, in a process of its own. said is what it reported if it failed.
func measure(ctx context.Context, binary, name, design string) (result *bench.Result, said string, err error) {
	command := exec.CommandContext(ctx, binary, "bench", name, "--design", design, "--duration", benchDuration,
		"--rounds", "1", "-o", "json", "-q")
	var out, failed bytes.Buffer
	command.Stdout, command.Stderr = &out, &failed
	err = command.Run()
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil {
		said := failed.String()
		return nil, said, program.CodedError{Err: errors.New(lastLine(said)), Code: exitFailed}
	}
	var document struct{ Results []bench.Result }
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		return nil, "", err
	}
	return &document.Results[0], "", nil
}

// printBench prints a row for each figure: the medians, and yours as a multiple of the others.
func (s *session) printBench(contenders []*contender) {
	table := tabwriter.NewWriter(s.OutOrStdout(), 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\t")
	for i, c := range contenders {
		fmt.Fprintf(table, "%s\t", c.name)
		if i > 0 {
			fmt.Fprint(table, "×\t")
		}
	}
	fmt.Fprintln(table)
	for _, figure := range contenders[0].rounds[0].Figures {
		if figure.Name == "rate for latency" {
			continue // half of the throughput
		}
		fmt.Fprintf(table, "%s\t", figure.Name)
		yours := contenders[0].median(figure.Name)
		for i, c := range contenders {
			value := c.median(figure.Name)
			fmt.Fprintf(table, "%s\t", benchreport.Human(value, figure.Unit))
			if i > 0 {
				fmt.Fprintf(table, "%s\t", ratio(yours, value))
			}
		}
		fmt.Fprintln(table)
	}
	table.Flush()
	s.print("bench-reads", benchRounds)
}

// median returns the median of a figure over all rounds.
func (c *contender) median(name string) float64 {
	var values []float64
	for _, round := range c.rounds {
		figure, _ := round.Figure(name)
		values = append(values, figure.Value)
	}
	return bench.Median(values)
}

// ratio returns a divided by b. Without a b there is nothing to compare.
func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}
