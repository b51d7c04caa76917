package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/why"
	"orrery/internal/why/collect"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
	"orrery/wait"
)

// whyOptions are the flags of "orrery why". A flag that "orrery run" also has has the same meaning.
type whyOptions struct {
	where clusterOptions

	output      string
	interval    time.Duration
	noWait      bool
	explain     string
	save, from  string
	timeout     time.Duration
	maxRequests int

	all, watch bool
	fix        bool
}

// The output formats. Only "orrery why" has the wide one.
const (
	outputText = "text"
	outputWide = "wide"
	outputJSON = "json"
)

func newWhyCommand() *cobra.Command {
	options := &whyOptions{}
	command := &cobra.Command{
		Use:   "why NAMESPACE | -A",
		Short: "Say why a namespace hangs in Terminating, with proof",
		Long: `Says what keeps a terminating namespace, with proof, and what to do and not to
do. It takes two samples ten seconds apart and compares them. It only reads: it
lists every type in the namespace, and then whatever the first answers suggest.

With --fix it also prints the commands of each remedy, the safe ones first.

A cause is proven only if every part of its proof was seen; otherwise it is
possible. A cause is called later if it acts only after the others are gone. A
type that could not be read is named and never counts as empty.

The printed commands have the --kubeconfig and --context of this command. With
--from, give the --context of the evidence's cluster for that.

Exit codes; with -A the highest of 0, 2 and 3:
  0  the namespace is not stuck: it went meanwhile, is Active, or makes progress
  1  an error, or there is no namespace of that name
  2  it is stuck, and at least one cause is proven
  3  it may be stuck, and no cause is proven`,
		Example: `  # what blocks the namespace shop, and what to do
  orrery why shop

  # every namespace in Terminating, a row each
  orrery why -A

  # a line for each change, until it is gone
  orrery why shop --watch

  # for a script: JSON at once, from one sample
  orrery why shop --no-wait -o json

  # save the evidence, and examine it elsewhere, without a cluster
  orrery why shop --save shop.json
  orrery why --from shop.json

  # the commands of each remedy
  orrery why shop --fix

  # the lesson on one cause
  orrery why --explain C01`,
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.check(args); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			return options.run(command, args)
		},
	}
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	program.CompleteFiles(command, "save", "from", "kubeconfig")
	return command
}

func (o *whyOptions) addTo(flags *pflag.FlagSet) {
	program.WordVar(flags, &o.output, "output", "o", "output format",
		[]string{outputText, outputWide, outputJSON},
		"form of the report; wide has the requests of the evidence")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false,
		"every terminating namespace, one row each; each type is listed once for all of them")
	flags.BoolVarP(&o.watch, "watch", "w", false,
		"print a line for each change, until the namespace is gone, or with -A until none is terminating")
	flags.DurationVar(&o.interval, "interval", collect.DefaultInterval, "the time between the two samples")
	flags.BoolVar(&o.noWait, "no-wait", false,
		"take only one sample, which proves nothing: every cause is then possible, and only a wait is proven")
	flags.StringVar(&o.explain, "explain", "", "print the lesson on the cause with this `id`, without a cluster")
	flags.StringVar(&o.save, "save", "",
		"save the evidence in this `file`, which only its owner can read; it has names, images, commands, nodes, "+
			"webhook rules, RBAC subjects and error messages, but no Secrets: look through it before you share it")
	flags.StringVar(&o.from, "from", "", "examine the evidence in this `file` instead of a cluster")
	flags.BoolVar(&o.fix, "fix", false, "also print the commands of each remedy; nothing is written")
	flags.DurationVar(&o.timeout, "timeout", collect.DefaultTimeout,
		"how long the examination may take; the report names what was not read by then")
	flags.IntVar(&o.maxRequests, "max-requests", 0,
		fmt.Sprintf("how many requests may be sent (default %d, with -A %d more for each namespace)",
			collect.DefaultMaxRequests, collect.RequestsEach))
	o.where.addTo(flags)
}

// check rejects invalid flags and arguments.
func (o *whyOptions) check(args []string) error {
	switch {
	case len(args) > 1:
		return fmt.Errorf("unexpected argument %q: give one namespace", args[1])
	case o.explain != "" && (len(args) > 0 || o.from != ""), o.from != "" && len(args) > 0:
		return errors.New("give only one of a namespace, --from, which has its namespace, and --explain")
	case o.from != "" && o.save != "":
		return errors.New("--from and --save exclude each other: evidence from a file is saved already")
	case o.all && (len(args) > 0 || o.explain != "" || o.from != "" || o.save != ""):
		return errors.New("--all-namespaces cannot be combined with a namespace, --explain, --from or --save")
	case o.watch && (o.explain != "" || o.from != "" || o.save != "" || o.fix || o.output != outputText):
		return errors.New("--watch prints lines only: it cannot be combined with --explain, --from, --save, " +
			"--fix or --output")
	case o.explain != "":
		if _, ok := why.Lookup(o.explain); !ok {
			return fmt.Errorf("there is no cause %q; the causes are %s", o.explain, strings.Join(why.IDs(), " "))
		}
	case o.all:
	case o.from == "" && len(args) == 0:
		return errors.New("give the name of a namespace, or -A")
	case len(args) > 0 && !why.IsNamespaceName(args[0]):
		return fmt.Errorf("%q is not the name of a namespace: it has lower-case letters, digits and \"-\", at most 63",
			args[0])
	}
	switch {
	case o.interval <= 0:
		return fmt.Errorf("--interval must be positive, it is %v; --no-wait takes one sample", o.interval)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout must be positive, it is %v", o.timeout)
	case o.maxRequests < 0:
		return fmt.Errorf("--max-requests cannot be negative, it is %d", o.maxRequests)
	}
	return o.where.check()
}

func (o *whyOptions) run(command *cobra.Command, args []string) error {
	stdout := command.OutOrStdout()
	switch {
	case o.explain != "":
		cause, _ := why.Lookup(o.explain)
		return cause.WriteExplanation(stdout, program.Width(stdout))
	case o.from != "":
		evidence, err := why.Load(o.from)
		if err != nil {
			return err
		}
		return o.judge(stdout, evidence)
	}
	ctx, release := program.UntilSignal(command.Context(), func() { os.Exit(program.ExitInterrupted) })
	defer release()
	config, _, err := kubeconfig.Load(o.where.of())
	if err != nil {
		return err
	}
	client, end, err := readingClient(config, "why", command.ErrOrStderr())
	if err != nil {
		return err
	}
	defer end()
	examine := func() ([]why.Evidence, error) { return o.collect(ctx, client, args) }
	if o.watch {
		return o.watchChanges(ctx, stdout, examine)
	}
	all, err := examine()
	if err != nil {
		return err
	}
	if o.save != "" {
		if err := all[0].Save(o.save); err != nil {
			return err
		}
	}
	return o.judge(stdout, all...)
}

// collect reads the evidence of the namespace in args, or of every terminating namespace.
func (o *whyOptions) collect(ctx context.Context, client *restclient.Client,
	args []string) (all []why.Evidence, err error) {
	options := collect.Options{Interval: o.interval, Timeout: o.timeout, MaxRequests: o.maxRequests}
	if o.noWait {
		options.Interval = -1
	}
	doing := "listing the namespaces"
	if o.all {
		all, err = collect.CollectAll(ctx, client, options)
	} else {
		doing = "reading the namespace"
		all = make([]why.Evidence, 1)
		all[0], err = collect.Collect(ctx, client, args[0], options)
	}
	if stopped := program.Stopped(ctx); stopped != nil {
		return nil, stopped
	}
	if o.all && api.IsForbidden(err) {
		return nil,
			fmt.Errorf("listing the namespaces is refused: %w; \"orrery rbac --for why --user NAME\" prints the "+
				"role that it needs", err)
	}
	if err != nil {
		return nil, &startError{doing: doing, server: client.Config().Host, err: err}
	}
	return all, nil
}

// judge prints what the evidence proves. The error is the exit code.
func (o *whyOptions) judge(stdout io.Writer, all ...why.Evidence) error {
	for i := range all {
		all[i].Cluster = o.cluster()
	}
	reports := why.JudgeAll(all)
	if err := o.print(stdout, reports); err != nil {
		return fmt.Errorf("the output cannot be written: %w", err)
	}
	if reports.ExitCode != why.ExitNotStuck {
		return program.Exit(reports.ExitCode)
	}
	return nil
}

func (o *whyOptions) print(stdout io.Writer, reports why.Reports) error {
	var document any = reports
	write := func() error { return reports.WriteText(stdout) }
	if !o.all {
		report := reports.Reports[0]
		document = report
		write = func() error { return report.WriteText(stdout, o.output == outputWide, program.Width(stdout)) }
	}
	if o.output == outputJSON {
		return why.WriteJSON(stdout, document)
	}
	if err := write(); err != nil {
		return err
	}
	if !o.fix {
		commands := func(f why.Finding) bool { return len(f.Remedies) > 0 }
		if o.all || !slices.ContainsFunc(reports.Reports[0].Findings, commands) {
			return nil
		}
		_, err := fmt.Fprintln(stdout, "--fix prints the commands for these objects")
		return err
	}
	if o.from != "" && o.cluster() == "" {
		if _, err := fmt.Fprintln(stdout,
			"\nWithout --context, these commands act on your default cluster."); err != nil {
			return err
		}
	}
	return why.WritePlan(stdout, reports.Reports...)
}

// watchChanges prints a line for each change of the reports, until no namespace is terminating.
func (o *whyOptions) watchChanges(ctx context.Context, stdout io.Writer, examine func() ([]why.Evidence, error)) error {
	for last := map[string]string{}; ; {
		all, err := examine()
		if err != nil {
			return err
		}
		lines := why.JudgeAll(all).Changes(last)
		if o.all && len(last) == 0 {
			lines = append(lines, "no namespace is Terminating")
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(stdout, time.Now().Format(time.TimeOnly), line); err != nil {
				return fmt.Errorf("the output cannot be written: %w", err)
			}
		}
		if len(last) == 0 {
			return nil
		}
		if o.noWait && wait.Sleep(ctx, o.interval) != nil {
			return program.Stopped(ctx)
		}
	}
}

// cluster returns the flags by which this command chose its cluster.
func (o *whyOptions) cluster() string { return why.ClusterFlags(o.where.kubeconfig, o.where.context) }

// pluginName is the name of a file with this program that kubectl runs as its command
// "kubectl why-terminating".
const pluginName = "kubectl-why_terminating"

// isPlugin reports whether a path by which this program was started is that of the plugin.
func isPlugin(path string) bool {
	return strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".exe") == pluginName
}

// newPluginCommand returns "orrery why" as a program of its own.
func newPluginCommand() *cobra.Command {
	const name = "kubectl why-terminating"
	command := newWhyCommand()
	command.Use = "why-terminating NAMESPACE | -A"
	command.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	command.Example = strings.ReplaceAll(command.Example, "orrery why", name)
	command.CompletionOptions.DisableDefaultCmd = true // "completion" is the name of a namespace
	return command
}
