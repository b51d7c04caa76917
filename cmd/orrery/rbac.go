package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/program"
	"orrery/internal/rbac"
)

// rbacOptions are the flags of "orrery rbac". Those that "orrery run" has as well mean the same.
type rbacOptions struct {
	name           string
	serviceAccount string
	user           string
	output         string

	controllers    []string
	dryRun         bool
	elect          bool
	leaseNamespace string
	leaseName      string
	events         bool
}

func newRBACCommand() *cobra.Command {
	options := &rbacOptions{}
	command := &cobra.Command{
		Use:   "rbac",
		Short: "Print the least rights with which run works",
		Long: `Prints the roles with the least rights with which "orrery run" works, and the
bindings that give them to a service account or to a user. Each rule has its
reason beside it. Nothing is sent to a cluster: the output is for "kubectl apply
-f -".

Flags that "orrery run" has as well mean the same: give the same values to both.`,
		Example: `  # what deploy/rbac.yaml has
  orrery rbac

  # give the rights to a service account of yours
  orrery rbac --service-account tools/janitor | kubectl apply -f -

  # to look only, as a user
  orrery rbac --dry-run --leader-elect=false --user jane

  # as one JSON document
  orrery rbac -o json`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := options.config()
			if flags := command.Flags(); flags.Changed("user") && flags.Changed("service-account") {
				err = errors.New("give one of --user and --service-account")
			}
			if err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			if options.output == outputJSON {
				return rbac.WriteJSON(command.OutOrStdout(), rbac.Manifests(config))
			}
			return rbac.WriteYAML(command.OutOrStdout(), rbac.Manifests(config))
		},
	}
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	program.Complete(command, "controllers", controllerCompletions()...)
	return command
}

// The forms of the output.
const (
	outputYAML = "yaml"
	outputJSON = "json"
)

func (o *rbacOptions) addTo(flags *pflag.FlagSet) {
	program.WordVar(flags, &o.output, "output", "o", "output format", []string{outputYAML, outputJSON}, "form of the output")
	flags.StringVar(&o.name, "name", "orrery", "the `name` of the roles and bindings")
	flags.StringVar(&o.serviceAccount, "service-account", "kube-system/orrery", "the service account that gets the rights, as `namespace/name`")
	flags.StringVar(&o.user, "user", "", "give the rights to this user, by the `name` that the API server knows, and to no service account")
	flags.StringSliceVar(&o.controllers, "controllers", everyController, controllersUsage("the controllers that are to run"))
	flags.BoolVar(&o.dryRun, "dry-run", false, "the rights for a run with --dry-run, which only reads")
	flags.BoolVar(&o.elect, "leader-elect", true, "include the rights to the Lease")
	flags.StringVar(&o.leaseNamespace, "leader-elect-resource-namespace", "kube-system", "the `namespace` of the Lease")
	flags.StringVar(&o.leaseName, "leader-elect-resource-name", "orrery", "the `name` of the Lease")
	flags.BoolVar(&o.events, "events", true, "include the right to record Events")
}

// config are the rights that the flags ask for.
func (o *rbacOptions) config() (rbac.Config, error) {
	run := runOptions{controllers: o.controllers, dryRun: o.dryRun}
	if err := run.choose(); err != nil {
		return rbac.Config{}, err
	}
	config := rbac.Config{
		Name: o.name, Subject: rbac.User(o.user), DryRun: o.dryRun, Events: o.events,
		LeaderElection: o.elect, LeaseNamespace: o.leaseNamespace, LeaseName: o.leaseName,
	}
	for _, d := range run.chosen {
		config.Controllers = append(config.Controllers, d.Rights(o.dryRun)...)
		config.EventsEverywhere = config.EventsEverywhere || d.EventsEverywhere
	}
	if o.user == "" {
		namespace, name, found := strings.Cut(o.serviceAccount, "/")
		if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
			return config, fmt.Errorf("--service-account must be a namespace and a name, such as kube-system/orrery, not %q", o.serviceAccount)
		}
		config.Subject = rbac.ServiceAccount(namespace, name)
	}
	switch {
	case o.name == "":
		return config, errors.New("--name must not be empty")
	case o.elect && (o.leaseNamespace == "" || o.leaseName == ""):
		return config, errors.New("--leader-elect-resource-namespace and --leader-elect-resource-name must not be empty")
	}
	return config, nil
}
