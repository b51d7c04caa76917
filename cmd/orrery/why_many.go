package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"orrery/internal/app/program"
	"orrery/internal/why"
	"orrery/internal/why/collect"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// reports collects and judges every terminating namespace.
func (o *whyOptions) reports(ctx context.Context, client *restclient.Client) (why.Reports, error) {
	all, err := collect.CollectAll(ctx, client, o.collectOptions())
	if stopped := program.Stopped(ctx); stopped != nil {
		return why.Reports{}, stopped
	}
	if api.IsForbidden(err) {
		return why.Reports{}, fmt.Errorf("listing the namespaces is refused: %w; \"orrery rbac --for why --user NAME\" prints the role that it needs", err)
	}
	if err != nil {
		return why.Reports{}, &startError{doing: "listing the namespaces", server: client.Config().Host, err: err}
	}
	return why.JudgeAll(all), nil
}

// judgeAll prints a row for each terminating namespace. The error is the exit code.
func (o *whyOptions) judgeAll(ctx context.Context, stdout io.Writer, client *restclient.Client) error {
	reports, err := o.reports(ctx, client)
	if err != nil {
		return err
	}
	for i := range reports.Reports {
		reports.Reports[i].UseCluster(o.cluster())
	}
	switch o.output {
	case outputJSON:
		err = why.WriteJSON(stdout, reports)
	case outputYAML:
		err = why.WriteYAML(stdout, reports)
	default:
		err = reports.WriteText(stdout, program.Width(stdout))
		if err == nil && o.fix {
			err = why.WritePlan(stdout, why.Plan(reports.Reports...))
		}
	}
	if err != nil {
		return fmt.Errorf("the output cannot be written: %w", err)
	}
	if reports.ExitCode != why.ExitNotStuck {
		return program.Exit(reports.ExitCode)
	}
	return nil
}

// watchAll prints a line for each change of the report on each terminating namespace, until there
// is none.
func (o *whyOptions) watchAll(ctx context.Context, stdout io.Writer, client *restclient.Client) error {
	last := map[string]string{}
	for {
		reports, err := o.reports(ctx, client)
		if err != nil {
			return err
		}
		for _, line := range reports.Changes(last) {
			if _, err := fmt.Fprintln(stdout, time.Now().Format(time.TimeOnly), line); err != nil {
				return fmt.Errorf("the output cannot be written: %w", err)
			}
		}
		if len(last) == 0 {
			return nil
		}
		if o.noWait && wait.Sleep(ctx, o.interval) != nil {
			return program.Stopped(ctx)
		}
	}
}

// watchOne prints a line for each change of the report until the namespace is gone, or is not
// terminating.
func (o *whyOptions) watchOne(ctx context.Context, stdout io.Writer, client *restclient.Client, namespace string) error {
	for last := ""; ; {
		evidence, err := o.collect(ctx, client, namespace)
		if err != nil {
			return err
		}
		report := why.Judge(evidence)
		if state := report.State(); state != last {
			if _, err := fmt.Fprintln(stdout, time.Now().Format(time.TimeOnly), report.Sentence); err != nil {
				return fmt.Errorf("the output cannot be written: %w", err)
			}
			last = state
		}
		if report.Verdict == why.Absent || report.Verdict == why.Active {
			return nil
		}
		if o.noWait && wait.Sleep(ctx, o.interval) != nil {
			return program.Stopped(ctx)
		}
	}
}
