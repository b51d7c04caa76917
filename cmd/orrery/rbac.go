package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/controller/rbac"
	"orrery/internal/app/cluster"
	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/restclient"
)

// rbacOptions are the flags of "orrery rbac". A flag that "orrery run" also has has the same
// meaning.
type rbacOptions struct {
	serviceAccount string
	user           string
	purpose        string
	without        string
	groups         []string
	run            runOptions // only what its rights depend on
}

func newRBACCommand() *cobra.Command {
	options := &rbacOptions{}
	command := &cobra.Command{
		Use:   "rbac",
		Short: "Print the minimal rights for run or why",
		Long: `Prints the minimal roles for "orrery run" (or, with --for why, "orrery why"),
and the bindings that give them to a service account or a user. Each rule has
its reason beside it. Nothing is sent to a cluster: the output is for "kubectl
apply -f -".

Roles for a dry run, or for another user or service account, have other names,
so that they do not overwrite existing roles.

Flags that "orrery run" also has mean the same here: give both the same values.`,
		Example: `  # what deploy/rbac.yaml has
  orrery rbac

  # the rights of "orrery why", for a user
  orrery rbac --for why --user jane | kubectl apply -f -

  # the same without the content of Secrets; the custom types must be named
  orrery rbac --for why --without secrets --group example.com,keda.sh

  # give the rights to a service account of yours
  orrery rbac --service-account tools/janitor | kubectl apply -f -

  # to look only, as a user
  orrery rbac --dry-run --leader-elect=false --user jane`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := options.config()
			if flags := command.Flags(); flags.Changed("user") && flags.Changed("service-account") {
				err = errors.New("give one of --user and --service-account")
			} else if flags.Changed("user") && options.user == "" {
				err = errors.New("--user must not be empty")
			} else if options.purpose != forWhy && (options.without == withoutSecrets || len(options.groups) > 0) {
				err = errors.New("--without and --group need --for why")
			} else if options.without != withoutSecrets && len(options.groups) > 0 {
				err = errors.New("--group needs --without secrets: otherwise every type may be listed")
			}
			if err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			manifests := rbac.Manifests(config)
			switch {
			case options.purpose == forWhy && options.without == withoutSecrets:
				manifests = rbac.Bind(config, cluster.WhyRightsWithoutSecrets(options.groups))
			case options.purpose == forWhy:
				manifests = rbac.Bind(config, cluster.WhyRights())
			}
			return rbac.WriteYAML(command.OutOrStdout(), manifests)
		},
	}
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	return command
}

// The commands that need rights.
const (
	forRun = "run"
	forWhy = "why"
)

// The values of --without.
const (
	withoutNothing = "nothing"
	withoutSecrets = "secrets"
)

func (o *rbacOptions) addTo(flags *pflag.FlagSet) {
	program.WordVar(flags, &o.purpose, "for", "", "command", []string{forRun, forWhy},
		"the command that needs the rights; the flags about controllers, leader election and Events are for run")
	program.WordVar(flags, &o.without, "without", "", "type", []string{withoutNothing, withoutSecrets},
		"with --for why: name the types that may be listed, without this one; custom types need --group")
	flags.StringSliceVar(&o.groups, "group", nil,
		"with --without: a `group` of custom types that may be listed as well; may be repeated")
	flags.StringVar(&o.serviceAccount, "service-account", defaultServiceAccount,
		"the service account that gets the rights, as `namespace/name`")
	flags.StringVar(&o.user, "user", "",
		"the user that gets the rights instead of a service account, by the `name` that the API server knows")
	flags.StringSliceVar(&o.run.controllers, "controllers", everyController, controllersUsage("the controllers to run"))
	flags.BoolVar(&o.run.dryRun, "dry-run", false, "the rights for a run with --dry-run, which only reads")
	flags.BoolVar(&o.run.election.elect, "leader-elect", true, "include the rights to the Lease")
	o.run.election.leaseOptions.addTo(flags)
	flags.BoolVar(&o.run.events, "events", true, "include the right to record Events")
}

// config returns the rights that the flags request.
func (o *rbacOptions) config() (rbac.Config, error) {
	err := o.run.choose()
	if err == nil && o.run.election.elect {
		err = o.run.election.leaseOptions.check()
	}
	if err != nil {
		return rbac.Config{}, err
	}
	config := o.run.rights()
	if config.Subject, err = rbac.ParseServiceAccount(o.serviceAccount); err != nil {
		return config, fmt.Errorf("--service-account %w", err)
	}
	if o.user != "" {
		config.Subject = rbac.User(o.user)
	}
	config.Name = o.name()
	return config, nil
}

// defaultServiceAccount is the one in deploy/.
const defaultServiceAccount = "kube-system/orrery"

// name returns a name that is unique to the purpose and subject: otherwise "kubectl apply" would
// take the rights away from the previous subject.
func (o *rbacOptions) name() string {
	name := "orrery"
	switch {
	case o.purpose == forWhy:
		name += "-why"
	case o.run.dryRun:
		name += "-dry-run"
	}
	subject := o.user
	if subject == "" && o.serviceAccount != defaultServiceAccount {
		subject = o.serviceAccount
	}
	if subject != "" {
		name += "-" + strings.NewReplacer("/", "-", "%", "-").Replace(subject)
	}
	return name
}

// rights returns the rights that a run with these flags needs. The caller sets the subject.
func (o *runOptions) rights() rbac.Config {
	config := rbac.Config{
		Events:         o.events && !o.dryRun, // a dry run writes nothing, and has no election
		LeaderElection: o.electing(), LeaseNamespace: o.election.namespace, LeaseName: o.election.name,
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
			Msg("this user lacks rights, requests that need them will fail; \"orrery rbac\", with the flags of " +
				"this run, prints them")
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
