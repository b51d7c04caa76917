package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"orrery/internal/observe/logs"
	"orrery/internal/secondcontroller"
	"orrery/restclient"
)

// secondOptions are the flags that say whether another namespace controller may be at work.
type secondOptions struct {
	allow bool
}

func (o *secondOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.allow, "allow-second-controller", false, "start even beside another namespace controller that works, such as kube-controller-manager's own")
}

func (o *secondOptions) check() error { return nil }

// secondControllerError is the refusal to start beside another namespace controller.
type secondControllerError struct{ evidence secondcontroller.Evidence }

func (e *secondControllerError) Error() string {
	if e.evidence.Verdict == secondcontroller.Suspected {
		return fmt.Sprintf("this cluster may have a namespace controller that works: %s; if it is off, start with --allow-second-controller (docs/running.md says how to switch it off)", e.evidence.How)
	}
	return fmt.Sprintf("this cluster has a namespace controller that works: %s; switch it off with --controllers=*,-namespace-controller of kube-controller-manager (docs/running.md says where), or start with --allow-second-controller", e.evidence.How)
}

// refuseEvident returns an error that says how it knows if the cluster shows that it has a namespace controller that works
// already. It only reads, and may be asked whether or not another orrery leads.
func refuseEvident(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	if options.second.allow || options.dryRun {
		return nil
	}
	evidence, err := secondcontroller.Look(ctx, client)
	switch {
	case err != nil:
		return err
	case evidence.Verdict == secondcontroller.Present:
		return &secondControllerError{evidence}
	case evidence.Verdict == secondcontroller.Suspected && !secondcontroller.MayTry(ctx, client):
		return &secondControllerError{evidence}
	}
	return nil
}

// refuseSecond is refuseEvident for when nobody leads but us, just before the work starts: it may try out, with a namespace of
// its own, whether somebody else deletes namespaces.
func refuseSecond(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	if options.second.allow {
		return nil
	}
	if !options.dryRun {
		for _, left := range secondcontroller.Sweep(ctx, client) {
			logger.Info().Str("namespace", left).Msg("a namespace that an earlier run had made to find out whether another namespace controller works, and left behind, has been deleted")
		}
	}
	evidence, err := secondcontroller.Look(ctx, client)
	if err != nil {
		return err
	}
	if evidence.Verdict <= secondcontroller.Suspected && !options.dryRun {
		tried, err := secondcontroller.Try(ctx, client, func(canary string) {
			logger.Info().Str("namespace", canary).Dur("about_s", secondcontroller.CanaryWait).
				Msg("finding out whether another namespace controller works: this one has been deleted, and waits for somebody to take it down")
		})
		if err != nil {
			return err
		}
		if tried.Verdict != secondcontroller.Unknown {
			evidence = tried
		}
	}
	switch {
	case evidence.Verdict == secondcontroller.Absent:
		logger.Info().Str("detail", evidence.How).Msg("no other namespace controller works")
	case evidence.Verdict == secondcontroller.Unknown:
		logger.Info().Str("detail", evidence.How).Msg("whether another namespace controller works cannot be seen, going on")
	case options.dryRun && evidence.Verdict == secondcontroller.Suspected:
		logger.Warn().Str("detail", evidence.How).Msg("another namespace controller may work; without --dry-run this would find out, or not start")
	case options.dryRun: // a rehearsal is in nobody's way
		logger.Warn().Str("detail", evidence.How).Msg("another namespace controller works, without --dry-run this would not start")
	default:
		return &secondControllerError{evidence}
	}
	return nil
}
