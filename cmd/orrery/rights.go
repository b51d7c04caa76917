package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/internal/observe/logs"
	"orrery/internal/rbac"
	"orrery/restclient"
)

// rights returns the rights that a run with these flags needs. The caller sets the subject.
func (o *runOptions) rights() rbac.Config {
	config := rbac.Config{
		DryRun: o.dryRun, Events: o.events,
		LeaderElection: o.election.elect, LeaseNamespace: o.election.namespace, LeaseName: o.election.name,
	}
	for _, d := range o.chosen {
		for _, right := range d.Rights(o.dryRun) {
			right.For = []string{d.Name}
			config.Controllers = append(config.Controllers, right)
		}
		config.EventsEverywhere = config.EventsEverywhere || d.EventsEverywhere
	}
	return config
}

// reportMissingRights warns of rights that the run needs and this user lacks. The run starts
// nevertheless: a role may list every type instead of "*", and missing rights may be granted later.
func reportMissingRights(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) {
	missing, err := rbac.Missing(ctx, client, rbac.Rights(options.rights()))
	switch {
	case err != nil:
		logger.At(1).Err(err).Msg("the server does not report the rights of this user")
	case len(missing) > 0:
		var words []string
		for _, right := range missing {
			words = append(words, inSentence(right))
		}
		logger.Warn().Str("missing", strings.Join(words, "; ")).
			Msg("this user lacks rights, requests that need them will fail; \"orrery rbac\", with the flags of this run, prints them")
	}
}

// inSentence describes a right: "delete, deletecollection everything (namespace-controller)".
func inSentence(right rbac.Right) string {
	what := right.Rule.Resources[0]
	switch group := right.Rule.APIGroups[0]; {
	case group == "*" && what == "*":
		what = "everything"
	case group != "":
		resource, subresource, found := strings.Cut(what, "/")
		if what = resource + "." + group; found {
			what += "/" + subresource
		}
	}
	text := strings.Join(right.Rule.Verbs, ", ") + " " + what
	if len(right.Rule.ResourceNames) > 0 {
		text += " " + right.Rule.ResourceNames[0]
	}
	if right.Namespace != "" {
		text += " in " + right.Namespace
	}
	slices.Sort(right.For)
	return fmt.Sprintf("%s (%s)", text, strings.Join(slices.Compact(right.For), ", "))
}
