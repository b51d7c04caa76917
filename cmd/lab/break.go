package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orrery/cmd/orrery/controllers"
	"orrery/controller/manager"
	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/internal/observe/logs"
	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/credentials"
	"orrery/restclient/kubeconfig"
	"orrery/wait"
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
	case o.random && o.check, (o.random || o.check) && len(args) > 0:
		return nil, errors.New("--random, --check and a cause exclude each other")
	case o.check != (o.server != ""):
		return nil, errors.New(`--check needs --server and the kubeconfig of a "lab break"`)
	case o.seed < 1 || o.seed > causes.Seeds:
		return nil, fmt.Errorf("--seed must be a number from 1 to %d", causes.Seeds)
	case o.random:
		all := causes.Fixtures()
		return &all[mathrand.IntN(len(all))], nil
	case o.check:
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
	ctx, release := program.UntilSignal(ctx, exitAtOnce)
	defer release()
	if fixture != nil {
		return inMemory(ctx, *fixture, out)
	}
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: o.server})
	if err != nil {
		return usage(err)
	}
	client, err := restclient.New(config)
	if err != nil {
		return usage(err)
	}
	defer client.Close()
	w := causes.NewWorld(ctx, client)
	f, err := w.Broken()
	if err != nil {
		return usage(err)
	}
	err = checkRepair(w, f, out)
	return cmp.Or(program.Stopped(ctx), err)
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
	var titles []string
	for _, id := range f.IDs() {
		cause, _ := why.Lookup(id)
		titles = append(titles, cause.ID+", "+cause.Title)
	}
	fmt.Fprintf(out, "✔ the namespace is gone, and nothing was stranded or damaged: %s\n", strings.Join(titles, "; "))
	if w.Excluded() {
		fmt.Fprintf(out,
			"· the webhook policy still leaves %s out: remove the exclusion, because a new namespace of that name "+
				"would not be checked\n", causes.Namespace)
	}
	return w.Err()
}

// registration is how long the kubelet needs for its node.
const registration = time.Second

// inMemory sets a fixture up on a new server, and keeps that running until a signal.
func inMemory(ctx context.Context, f causes.Fixture, out io.Writer) error {
	token := "controller-" + rand.Text()
	server, err := apiserver.New(apiserver.Config{
		Listen: "127.0.0.1:0", TLS: true,
		Tokens: map[string]apiserver.User{token: {Name: causes.ControllerUser,
			Groups: []string{apiserver.GroupMasters}}},
	})
	if err != nil {
		return err
	}
	defer stopServer(server)
	if err := server.Start(ctx); err != nil {
		return err
	}
	path, remove, err := placeKubeconfig(server, "")
	if err != nil {
		return err
	}
	defer remove()
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		return err
	}
	admin, err := restclient.New(config)
	if err != nil {
		return err
	}
	defer admin.Close()
	if config.Credentials, err = credentials.NewToken(token); err != nil {
		return err
	}
	client, err := restclient.New(config)
	if err != nil {
		return err
	}
	defer client.Close()

	var running wait.Group
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	w := causes.NewWorld(ctx, admin)
	defer func() {
		stop()
		w.Wait()
	}()
	w.StartController = func() {
		running.StartWithContext(ctx,
			func(ctx context.Context) { runController(ctx, client) })
	}
	if !f.NoController {
		w.StartController()
	}
	if err := wait.Sleep(ctx, registration); err != nil {
		return program.Stopped(ctx)
	}
	fmt.Fprintln(out, "Setting up; this may take two minutes.")
	var symptom []string
	if err = w.Break(f); err == nil {
		symptom, err = w.Symptom()
	}
	if ctx.Err() != nil {
		return program.Stopped(ctx)
	}
	if err != nil {
		return err
	}
	for _, line := range symptom {
		fmt.Fprintln(out, line)
	}
	quoted := shellQuoted(path)
	fmt.Fprintf(out, "Why does it hang? What lies outside the API is in the namespace %s.\n", causes.MachineRoom)
	fmt.Fprintf(out, "  export KUBECONFIG=%s\n  lab break --check --server %s\nCtrl-C ends the server.\n",
		quoted, quoted)
	<-ctx.Done()
	return program.Stopped(ctx)
}

// runController runs the namespace controller until the end of the context.
func runController(ctx context.Context, client *restclient.Client) {
	chosen, err := manager.Choose(controllers.Descriptors(controllers.Options{}),
		[]string{controllers.NamespaceController})
	if err != nil {
		panic("lab break: " + err.Error()) // the name is constant
	}
	logger := logs.New(logs.Config{Writer: io.Discard})
	if err := manager.NewManager(manager.Shared{Client: client, Logger: logger}, chosen).Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab break: the namespace controller has ended:", err)
	}
}
