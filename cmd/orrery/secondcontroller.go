package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/internal/app/secondcontroller"
	"orrery/internal/observe/logs"
	"orrery/restclient"
)

// secondControllerError is the refusal to start beside another controller of the same kind.
type secondControllerError struct {
	controller string
	evidence   secondcontroller.Evidence
}

func (e *secondControllerError) Error() string {
	if e.evidence.Verdict == secondcontroller.Possible {
		return fmt.Sprintf("this cluster may have an active %s: %s; %s; if it is off, start with --allow-second-controller", inWords(e.controller), e.evidence.How, e.evidence.SwitchOff)
	}
	return fmt.Sprintf("this cluster has an active %s: %s; %s, or start with --allow-second-controller", inWords(e.controller), e.evidence.How, e.evidence.SwitchOff)
}

// inWords returns the name of a controller in a sentence: "namespace controller".
func inWords(controller string) string { return strings.ReplaceAll(controller, "-", " ") }

// refuseSecond returns an error if the cluster has, or may have, another controller of the same
// kind as a selected one, and otherwise logs the evidence. It only reads.
func refuseSecond(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	return options.eachSecond(ctx, client, func(controller string, evidence secondcontroller.Evidence) error {
		switch {
		case evidence.Verdict == secondcontroller.Absent:
			logger.Info().Str("controller", controller).Str("detail", evidence.How).Msg("no other controller of this kind is active")
		case evidence.Verdict == secondcontroller.Unknown:
			logger.Warn().Str("controller", controller).Str("detail", evidence.How).Msg("cannot determine whether another controller of this kind is active, continuing")
		case options.dryRun && evidence.Verdict == secondcontroller.Possible:
			logger.Warn().Str("controller", controller).Str("detail", evidence.How).Msg("another controller of this kind may be active, without --dry-run this would not start")
		case options.dryRun: // a dry run cannot conflict
			logger.Warn().Str("controller", controller).Str("detail", evidence.How).Msg("another controller of this kind is active, without --dry-run this would not start")
		default:
			return &secondControllerError{controller, evidence}
		}
		return nil
	})
}

// refuseEvident is refuseSecond for a process that checks again when it leads: it logs nothing.
func refuseEvident(ctx context.Context, client *restclient.Client, options *runOptions) error {
	if options.dryRun {
		return nil
	}
	return options.eachSecond(ctx, client, func(controller string, evidence secondcontroller.Evidence) error {
		if evidence.Verdict == secondcontroller.Present || evidence.Verdict == secondcontroller.Possible {
			return &secondControllerError{controller, evidence}
		}
		return nil
	})
}

// eachSecond calls assess with the evidence for each selected controller, until it returns an
// error.
func (o *runOptions) eachSecond(ctx context.Context, client *restclient.Client, assess func(controller string, evidence secondcontroller.Evidence) error) error {
	var builtIn []secondcontroller.Controller
	for _, d := range o.chosen {
		if d.BuiltIn && !o.allowSecond {
			builtIn = append(builtIn, secondcontroller.Controller{Name: d.Name, Alias: d.Alias})
		}
	}
	for i, c := range builtIn {
		evidence, err := secondcontroller.Look(ctx, client, c, slices.Concat(builtIn[:i], builtIn[i+1:])...)
		if err == nil {
			err = assess(c.Name, evidence)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
