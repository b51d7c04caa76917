package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/causes/verdict"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/why"
)

// stuck sets up a namespace of lab 13, with the seed of the learner's verdicts, and ends the
// situation of an earlier action before. It prints what a user sees, and if the verdicts have
// passed, what "orrery why" proves.
func (p *player) stuck(ctx context.Context, s manifest.Stuck) error {
	if !causes.IsOfCourse(s.Namespace) {
		return fmt.Errorf("lab 13 has no namespace %q", s.Namespace)
	}
	verdicts, err := verdict.Read(p.Verdicts)
	if err != nil {
		return err
	}
	if p.situation != nil {
		if err := p.world.End(*p.situation); err != nil {
			return err
		}
	}
	situation := causes.OfCourse(s.Namespace, verdicts.Seed)
	p.situation = &situation
	if err := p.world.Break(situation); err != nil {
		return err
	}
	symptom, err := p.world.Symptom()
	if err != nil {
		return err
	}
	for _, line := range symptom {
		p.line(line)
	}
	if !p.Passed {
		p.say("run-why-later", causes.Namespace)
		return nil
	}
	return p.explain(ctx, situation, p.limit(s.Within.Duration))
}

// explain prints the report of "orrery why" when it proves that the namespace is stuck, and names
// all causes of the situation: what it reads follows some of them only after a while.
func (p *player) explain(ctx context.Context, situation causes.Fixture, limit time.Duration) error {
	var report string
	err := p.until(ctx, limit, func() (bool, error) {
		command := exec.CommandContext(ctx, p.Program, "why", causes.Namespace)
		command.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
		text, err := command.Output()
		if _, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
			return false, err
		}
		report = string(text)
		unnamed := func(id string) bool { return !strings.Contains(report, id) }
		return command.ProcessState.ExitCode() == why.ExitStuck && !slices.ContainsFunc(situation.IDs(), unnamed), nil
	})
	if err != nil && !errors.Is(err, errTooLong) {
		return err
	}
	p.say("run-why", causes.Namespace)
	fmt.Fprint(p.Out, report)
	if err != nil {
		p.say("run-not-why", strings.Join(situation.IDs(), ", "), limit.Seconds())
		return errOutcome
	}
	return nil
}
