package script

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/causes/verdict"
	"orrery/internal/why"
)

// stick sets a namespace of lab 13 up: that of the seed in the learner's verdicts. The situation of
// the action before ends first. It prints what a user sees, and, to a learner whose verdicts have
// passed, what "orrery why" proves.
func (p *player) stick(ctx context.Context, name string) error {
	if !causes.IsOfCourse(name) {
		return fmt.Errorf("lab 13 has no namespace %q", name)
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
	situation := causes.OfCourse(name, verdicts.Seed)
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
	return p.explain(ctx, situation)
}

// explain prints the report of "orrery why" when it names all causes of the situation: the
// conditions follow some of them only after a while.
func (p *player) explain(ctx context.Context, situation causes.Fixture) error {
	var report string
	err := p.until(ctx, p.limit(causes.Settled), func() (bool, error) {
		text, err := exec.CommandContext(ctx, p.Program, "why", causes.Namespace, "--kubeconfig", p.kubeconfig).Output()
		ended, is := errors.AsType[*exec.ExitError](err)
		if err != nil && !(is && (ended.ExitCode() == why.ExitStuck || ended.ExitCode() == why.ExitUnknown)) {
			return false, fmt.Errorf("orrery why %s: %w", causes.Namespace, err)
		}
		report = string(text)
		for _, id := range situation.IDs() {
			if !strings.Contains(report, id) {
				return false, nil
			}
		}
		return true, nil
	})
	tooLong := errors.Is(err, errTooLong)
	if err != nil && !tooLong {
		return err
	}
	p.say("run-why", causes.Namespace)
	for line := range strings.Lines(report) {
		fmt.Fprintf(p.Out, "           %s", line)
	}
	if tooLong {
		p.say("run-not-why", strings.Join(situation.IDs(), ", "), p.limit(causes.Settled).Seconds())
		return errOutcome
	}
	return nil
}
