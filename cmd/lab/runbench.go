package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
)

// runBench measures the learner's page beside the fast form: "lab bench" of a laboratory that is
// built with the page.
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
	binary := filepath.Join(dir, executable)
	lay, err := s.build(ctx, chosen, "cmd/lab", dir, binary)
	if err != nil {
		return err
	}
	designs := benchForm(chosen.run) + ",fast"
	s.print("bench-yours", benchForm(chosen.run), name, designs)
	command := exec.CommandContext(ctx, binary, "bench", name, "--design", designs, "-q")
	var failed bytes.Buffer
	command.Stdout, command.Stderr = program.Underlying(s.OutOrStdout()), &failed
	if err = command.Run(); err != nil && ctx.Err() == nil {
		s.print("run-crashed")
		check.Explain(course.Result{Output: failed.String()}, lay).Print(s.OutOrStdout(), s.lang, nil)
		return program.Exit(exitFailed)
	}
	return err
}

// benchForm returns the design of the learner's page in "lab bench": the form that the gears name.
func benchForm(run course.Run) string {
	_, form, found := strings.Cut(run.GearSet(), "=")
	if !found {
		return run.GearSet()
	}
	return form
}
