package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"orrery/cmd/orrery/controllers"
	"orrery/controller/gears"
	"orrery/controller/manager"
	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/nsctl"
	"orrery/restclient"
)

// runOptions are the flags of "orrery run". A flag that kube-controller-manager also has has the
// same name, meaning and default.
type runOptions struct {
	cluster clusterOptions

	controllers  []string
	chosen       []manager.Descriptor // from controllers
	each         controllers.Options
	namespaces   []string // patterns, see nsctl.Selection
	drainTimeout time.Duration
	dryRun       bool
	gears        gears.Set

	qps            float32
	burst          int
	watchTransport restclient.WatchTransport

	logFormat string
	verbosity int

	events   bool
	election electionOptions
	observer observerOptions
	record   trace.Options
	view     bool
	page     web.Flags

	allowSecond bool // a second controller of the same kind
}

func (o *runOptions) addTo(flags *pflag.FlagSet) {
	o.cluster.addTo(flags)
	flags.StringSliceVar(&o.controllers, "controllers", everyController, controllersUsage("the controllers to run"))
	flags.StringSliceVar(&o.namespaces, "namespaces", nil,
		"work on namespaces whose names match one of these `patterns`, such as 'team-*,-team-x': * stands for any "+
			"characters, ? for one, - in front excludes; all others are neither changed nor reported; default: all")
	flags.IntVar(&o.each.Workers, "concurrent-namespace-syncs", 10,
		"how many namespaces are processed at the same time")
	flags.DurationVar(&o.each.SyncPeriod, "namespace-sync-period", 5*time.Minute,
		"how often each namespace is processed again without a change")
	flags.DurationVar(&o.each.GracePeriod, "namespace-deletion-grace-period", 5*time.Second,
		"how long to wait after the deletion of a namespace before its content is deleted, so that every API "+
			"server has seen the deletion")
	flags.IntVar(&o.each.TypeConcurrency, "concurrent-resource-types", 32,
		"how many resource types of one namespace are deleted at the same time; pods always go first, and alone")
	flags.DurationVar(&o.drainTimeout, "shutdown-timeout", 20*time.Second,
		"how long the first Ctrl-C waits for work in progress")
	flags.BoolVar(&o.dryRun, "dry-run", false,
		"write nothing, and log what would be deleted; namespaces are examined immediately, without their grace period")
	flags.Var(&o.gears, "gears",
		"the form of each gear: fast, textbook, or a mixture such as fast,queue=textbook,deltafifo=inorder; "+
			"the gears are "+strings.Join(gears.Names(), " "))

	flags.Float32Var(&o.qps, "kube-api-qps", 20,
		"requests per second to the API server; the namespace controller takes 20 times this, as in "+
			"kube-controller-manager; negative: no limit")
	flags.IntVar(&o.burst, "kube-api-burst", 30,
		"how many requests may be sent at once after a pause; the namespace controller takes 100 times this")
	transports := []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket}
	program.WordVar(flags, &o.watchTransport, "watch-transport", "", "watch transport", transports,
		"transport of watches; http is chunked")

	o.election.addTo(flags)
	flags.BoolVar(&o.allowSecond, "allow-second-controller", false,
		"start even if another controller of the same kind is active, such as that of kube-controller-manager")
	o.observer.addTo(flags)
	o.record.AddTo(flags)
	flags.BoolVar(&o.view, "view", false,
		"show what every gear does in the browser, on the loopback interface, read-only; a pod is reached by "+
			"kubectl port-forward")
	o.page.AddTo(flags)
	flags.BoolVar(&o.events, "events", true,
		"record Kubernetes Events; without the right to create Events, none are recorded")

	flags.StringVar(&o.logFormat, "log-format", string(logs.Text), "text or json")
	flags.IntVarP(&o.verbosity, "v", "v", 0, "how much to log: 1 passes and retries, 2 requests and watches")
}

// check rejects invalid values.
func (o *runOptions) check() error {
	for flag, workers := range map[string]int{
		"concurrent-namespace-syncs": o.each.Workers,
		"concurrent-resource-types":  o.each.TypeConcurrency,
	} {
		if workers < 1 {
			return fmt.Errorf("--%s must be at least 1, not %d", flag, workers)
		}
	}
	switch {
	case o.each.GracePeriod < 0:
		return fmt.Errorf("--namespace-deletion-grace-period must not be negative, it is %v", o.each.GracePeriod)
	case o.each.SyncPeriod <= 0:
		return fmt.Errorf("--namespace-sync-period must be positive, it is %v", o.each.SyncPeriod)
	case o.drainTimeout <= 0:
		return fmt.Errorf("--shutdown-timeout must be positive, it is %v", o.drainTimeout)
	case o.qps == 0:
		return errors.New("--kube-api-qps must not be 0; use a negative number for no limit")
	case math.IsNaN(float64(o.qps)) || math.IsInf(float64(o.qps), 0):
		return fmt.Errorf("--kube-api-qps takes a number, not %v; use a negative number for no limit", o.qps)
	case o.burst < 1 && o.qps > 0:
		return fmt.Errorf("--kube-api-burst must be at least 1, not %d", o.burst)
	case o.verbosity < 0:
		return fmt.Errorf("-v must not be negative, it is %d", o.verbosity)
	}
	_, err := logs.ParseFormat(o.logFormat)
	if err == nil {
		err = o.selectNamespaces()
	}
	if err == nil {
		err = o.choose()
	}
	return cmp.Or(err, o.cluster.check(), o.election.check(), o.observer.check(), o.record.Check(),
		o.page.Check(o.view))
}

// everyController is the default of --controllers.
var everyController = []string{"*"}

// controllersUsage is the help of --controllers.
func controllersUsage(what string) string {
	var on, onDemand []string
	for _, d := range controllers.Descriptors(controllers.Options{}) {
		name := d.Name
		if d.Alias != "" {
			name += " (" + d.Alias + ")"
		}
		if d.OnDemand {
			onDemand = append(onDemand, name)
		} else {
			on = append(on, name)
		}
	}
	usage := what + ": * for all that are on by default, `name` for one, -name to exclude one; on by default: " +
		strings.Join(on, ", ")
	if len(onDemand) > 0 {
		usage += "; only by name: " + strings.Join(onDemand, ", ")
	}
	return usage
}

// choose selects the controllers of --controllers.
func (o *runOptions) choose() (err error) {
	options := o.each
	if options.GracePeriod == 0 || o.dryRun {
		// The flag's 0 means none, the configuration's 0 means the default. A dry run does not wait
		// for the grace period: the built-in controller may delete an ordinary namespace sooner.
		options.GracePeriod = -1
	}
	o.chosen, err = manager.Choose(controllers.Descriptors(options), o.controllers)
	if err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	for _, d := range o.chosen {
		if o.dryRun && !d.DryRun {
			return fmt.Errorf("--dry-run: %s does not support it", d.Name)
		}
		if !options.Selection.All() && d.Name != controllers.NamespaceController {
			return fmt.Errorf("--namespaces: %s works in all namespaces; leave it out of --controllers", d.Name)
		}
	}
	return nil
}

// selectNamespaces parses --namespaces. An empty value, such as that of an unset variable in a
// script, does not select all.
func (o *runOptions) selectNamespaces() (err error) {
	if o.namespaces != nil && len(o.namespaces) == 0 {
		return errors.New(`--namespaces: give at least one pattern; "*" selects all namespaces`)
	}
	o.each.Selection, err = nsctl.ParseSelection(o.namespaces)
	if err != nil {
		return fmt.Errorf("--namespaces: %w", err)
	}
	return nil
}

// chose reports whether a controller is selected.
func (o *runOptions) chose(name string) bool {
	return slices.ContainsFunc(o.chosen, func(d manager.Descriptor) bool { return d.Name == name })
}
