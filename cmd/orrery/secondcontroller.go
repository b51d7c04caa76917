package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/observe/logs"
	"orrery/internal/secondcontroller"
	"orrery/restclient"
)

// secondOptions are the flags that say whether another controller of the same kind may be at work.
type secondOptions struct {
	allow bool
}

func (o *secondOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.allow, "allow-second-controller", false, "start even beside another controller of the same kind that works, such as kube-controller-manager's own")
}

func (o *secondOptions) check() error { return nil }

// secondControllerError is the refusal to start beside another controller of the same kind.
type secondControllerError struct {
	controller string
	evidence   secondcontroller.Evidence
}

func (e *secondControllerError) Error() string {
	if e.evidence.Verdict == secondcontroller.Suspected {
		return fmt.Sprintf("this cluster may have a %s that works: %s; if it is off, start with --allow-second-controller (docs/running.md says how to switch it off)", inWords(e.controller), e.evidence.How)
	}
	return fmt.Sprintf("this cluster has a %s that works: %s; switch it off with --controllers=*,-%s of kube-controller-manager (docs/running.md says where), or start with --allow-second-controller", inWords(e.controller), e.evidence.How, e.controller)
}

// inWords is the name of a controller in a sentence: "namespace controller".
func inWords(controller string) string { return strings.ReplaceAll(controller, "-", " ") }

// refuseSecond returns an error if the cluster shows another controller of the same kind as one of the chosen, or may have one,
// and logs what it knows otherwise. It only reads.
func refuseSecond(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	return options.eachSecond(ctx, client, func(controller string, evidence secondcontroller.Evidence) error {
		switch {
		case evidence.Verdict == secondcontroller.Absent:
			logger.Info().Str("controller", controller).Str("detail", evidence.How).Msg("no other controller of this kind works")
		case evidence.Verdict == secondcontroller.Unknown:
			logger.Warn().Str("controller", controller).Str("detail", evidence.How).Msg("whether another controller of this kind works cannot be seen, going on")
		case options.dryRun && evidence.Verdict == secondcontroller.Suspected:
			logger.Warn().Str("controller", controller).Str("detail", evidence.How).Msg("another controller of this kind may work, without --dry-run this would not start")
		case options.dryRun: // a dry run is in nobody's way
			logger.Warn().Str("controller", controller).Str("detail", evidence.How).Msg("another controller of this kind works, without --dry-run this would not start")
		default:
			return &secondControllerError{controller, evidence}
		}
		return nil
	})
}

// refuseEvident is refuseSecond for a process that is going to look once more when it leads: it logs nothing.
func refuseEvident(ctx context.Context, client *restclient.Client, options *runOptions) error {
	if options.dryRun {
		return nil
	}
	return options.eachSecond(ctx, client, func(controller string, evidence secondcontroller.Evidence) error {
		if evidence.Verdict == secondcontroller.Present || evidence.Verdict == secondcontroller.Suspected {
			return &secondControllerError{controller, evidence}
		}
		return nil
	})
}

// eachSecond looks for each of the chosen controllers whether the cluster has another one, until judge returns an error.
func (o *runOptions) eachSecond(ctx context.Context, client *restclient.Client, judge func(controller string, evidence secondcontroller.Evidence) error) error {
	for _, d := range o.chosen {
		if o.second.allow || !d.BuiltIn {
			continue
		}
		evidence, err := secondcontroller.Look(ctx, client, d.Name, d.Alias)
		if err == nil {
			err = judge(d.Name, evidence)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
