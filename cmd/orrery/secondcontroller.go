package main

import (
	"context"
	"fmt"
	"strings"

	"orrery/internal/app/cluster"
	"orrery/internal/observe/logs"
	"orrery/restclient"
)

// secondControllerError is the refusal to start beside another controller of the same kind.
type secondControllerError struct {
	controller string
	evidence   cluster.Evidence
}

func (e *secondControllerError) Error() string {
	if e.evidence.Verdict == cluster.Possible {
		return fmt.Sprintf("this cluster may have an active %s: %s; %s; if it is off, start with "+
			"--allow-second-controller", inWords(e.controller), e.evidence.How, e.evidence.SwitchOff)
	}
	return fmt.Sprintf("this cluster has an active %s: %s; %s, or start with --allow-second-controller",
		inWords(e.controller), e.evidence.How, e.evidence.SwitchOff)
}

// inWords returns the name of a controller in a sentence: "namespace controller".
func inWords(controller string) string { return strings.ReplaceAll(controller, "-", " ") }

// refuseSecond returns an error if the cluster has, or may have, another controller of the same
// kind as a selected one, and otherwise logs the evidence. It only reads. A dry run cannot
// conflict.
func refuseSecond(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	for _, d := range options.chosen {
		if !d.BuiltIn || options.allowSecond {
			continue
		}
		c := cluster.Controller{Name: d.Name, Alias: d.Alias}
		evidence, err := cluster.Look(ctx, client, c)
		if err != nil {
			return err
		}
		verdict, begin := evidence.Verdict, logger.Warn
		if verdict == cluster.Absent {
			begin = logger.Info
		} else if verdict != cluster.Unknown && !options.dryRun {
			return &secondControllerError{c.Name, evidence}
		}
		line := begin().Str("controller", c.Name).Str("detail", evidence.How)
		switch verdict {
		case cluster.Absent:
			line.Msg("no other controller of this kind is active")
		case cluster.Unknown:
			line.Msg("cannot determine whether another controller of this kind is active, continuing")
		case cluster.Possible:
			line.Msg("another controller of this kind may be active, without --dry-run this would not start")
		default:
			line.Msg("another controller of this kind is active, without --dry-run this would not start")
		}
	}
	return nil
}
