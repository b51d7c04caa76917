package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/causes"
	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// breakOptions are the flags of "lab break".
type breakOptions struct {
	random, check bool
	server        string
	seed          uint64
}

// newBreakCommand returns "lab break": it sets up a namespace that hangs, for one of the causes
// that "orrery why" knows, and checks the learner's repair.
func newBreakCommand() *cobra.Command {
	o := &breakOptions{}
	command := &cobra.Command{
		Use:   "break [CAUSE]",
		Short: "Set up a namespace that hangs, for you to diagnose",
		Long: `Sets up a namespace called shop that hangs in Terminating, on an API server in
memory with this project's namespace controller, and prints only the symptom.
Find the cause with kubectl or "orrery why shop", repair it, and check the
repair with --check: the namespace must be gone, nothing may be stranded, and
nothing else may be damaged.

Some causes, such as a node without power, cannot be repaired through the API.
Each is represented by a ConfigMap in the namespace machine-room: deleting it is
the repair.

In another terminal, --check takes the kubeconfig of the running "lab break" by
--server.

Ids joined by "+" set up several causes in one namespace. "first" and "second"
are the two namespaces of lab 13, with two causes each; --seed chooses others.`,
		Example: `  # a cause that you do not know
  lab break --random

  # a namespace of lab 13, not the one of your neighbour
  lab break --seed 7 first

  # in another terminal: was the repair right?
  lab break --check --server /tmp/orrery-1/kubeconfig`,
		Args: program.AtMostOneArgument,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return why.IDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(command *cobra.Command, args []string) error {
			fixture, err := o.chosen(args)
			if err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			return o.run(command.Context(), fixture, command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.BoolVar(&o.random, "random", false, "choose the cause at random, and do not say which")
	flags.BoolVar(&o.check, "check", false, "check the repair: exit code 0 if it passes, 1 if not")
	flags.Uint64Var(&o.seed, "seed", 1,
		fmt.Sprintf("the `number` of the two namespaces of lab 13, 1 to %d; as in verdict.yaml", causes.Seeds))
	flags.StringVar(&o.server, "server", "", "the `kubeconfig` of a \"lab break\" that is running, for --check")
	program.CompleteFiles(command, "server")
	return command
}

// chosen returns the fixture to set up; nil if the server says which.
func (o *breakOptions) chosen(args []string) (*causes.Fixture, error) {
	switch {
	case o.random && (o.check || len(args) > 0):
		return nil, errors.New("--random excludes --check and a cause")
	case o.check != (o.server != ""):
		return nil, errors.New(`--check needs --server and the kubeconfig of a "lab break"`)
	case o.seed < 1 || o.seed > causes.Seeds:
		return nil, fmt.Errorf("--seed must be a number from 1 to %d", causes.Seeds)
	case o.random:
		all := causes.Fixtures()
		return &all[rand.IntN(len(all))], nil
	case o.check && len(args) == 0:
		return nil, nil
	case len(args) == 0:
		return nil, errors.New("name a cause, or --random")
	case causes.IsOfCourse(args[0]):
		f := causes.OfCourse(args[0], o.seed)
		return &f, nil
	case o.seed != 1:
		return nil, errors.New("--seed chooses among the namespaces of lab 13: give first or second")
	}
	f, ok := causes.Find(args[0])
	if !ok {
		return nil, fmt.Errorf("there is no cause %q; use one of %s", args[0], strings.Join(why.IDs(), ", "))
	}
	return &f, nil
}

func (o *breakOptions) run(ctx context.Context, fixture *causes.Fixture, out io.Writer) error {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	if !o.check {
		return inMemory(ctx, *fixture, out)
	}
	w, f, err := o.world(ctx)
	if err == nil && fixture != nil && fixture.ID != f.ID {
		err = fmt.Errorf("another cause than %s is set up on this server", fixture.ID)
	}
	if err != nil {
		return program.CodedError{Err: err, Code: exitUsage}
	}
	if err := checkRepair(w, f, out); ctx.Err() == nil {
		return err
	}
	return program.Stopped(ctx)
}

// world returns what runs on the server of --server, and what was set up there. Its client ends
// with the program.
func (o *breakOptions) world(ctx context.Context) (w *causes.World, f causes.Fixture, err error) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: o.server})
	if err != nil {
		return nil, f, err
	}
	client, err := restclient.New(config)
	if err != nil {
		return nil, f, err
	}
	w = causes.NewWorld(ctx, client)
	f, err = w.Broken()
	return w, f, err
}

// checkRepair checks the repair of a situation.
func checkRepair(w *causes.World, f causes.Fixture, out io.Writer) error {
	problems := f.Intact(w)
	if w.Err() != nil {
		return w.Err()
	}
	for _, problem := range problems {
		fmt.Fprintf(out, "✘ %s\n", problem)
	}
	if len(problems) > 0 {
		return program.Exit(exitFailed)
	}
	fmt.Fprintf(out, "✔ the namespace is gone, and nothing was stranded or damaged: %s\n", titleOf(f))
	if w.Excluded() {
		fmt.Fprintf(out,
			"· the webhook policy still leaves %s out: remove the exclusion, because a new namespace of that name "+
				"would not be checked\n", causes.Namespace)
	}
	return w.Err()
}

func titleOf(f causes.Fixture) string {
	var titles []string
	for _, id := range f.IDs() {
		cause, _ := why.Lookup(id)
		titles = append(titles, cause.ID+", "+cause.Title)
	}
	return strings.Join(titles, "; ")
}
