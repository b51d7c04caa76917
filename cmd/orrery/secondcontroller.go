package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"orrery/internal/controllers/all"
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

// refuseSecond returns an error if the cluster shows another namespace controller, or may have one, and logs what it knows
// otherwise. It only reads.
func refuseSecond(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	if options.second.allow || !options.chose(all.NamespaceController) {
		return nil
	}
	evidence, err := secondcontroller.Look(ctx, client)
	if err != nil {
		return err
	}
	switch {
	case evidence.Verdict == secondcontroller.Absent:
		logger.Info().Str("detail", evidence.How).Msg("no other namespace controller works")
	case evidence.Verdict == secondcontroller.Unknown:
		logger.Warn().Str("detail", evidence.How).Msg("whether another namespace controller works cannot be seen, going on")
	case options.dryRun && evidence.Verdict == secondcontroller.Suspected:
		logger.Warn().Str("detail", evidence.How).Msg("another namespace controller may work, without --dry-run this would not start")
	case options.dryRun: // a dry run is in nobody's way
		logger.Warn().Str("detail", evidence.How).Msg("another namespace controller works, without --dry-run this would not start")
	default:
		return &secondControllerError{evidence}
	}
	return nil
}

// refuseEvident is refuseSecond for a process that is going to look once more when it leads: it logs nothing.
func refuseEvident(ctx context.Context, client *restclient.Client, options *runOptions) error {
	if options.second.allow || options.dryRun || !options.chose(all.NamespaceController) {
		return nil
	}
	evidence, err := secondcontroller.Look(ctx, client)
	if err == nil && (evidence.Verdict == secondcontroller.Present || evidence.Verdict == secondcontroller.Suspected) {
		err = &secondControllerError{evidence}
	}
	return err
}
