package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"orrery/controller/leaderelection"
	"orrery/controller/manager"
	"orrery/internal/app/cluster"
	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/wait"
)

// process holds what the parts of a run share after connecting.
type process struct {
	options  *runOptions
	logger   *logs.Logger
	observer *observer
	recorder *trace.Recorder // nil: nothing is recorded
	fence    *leaderelection.Fence
	client   *restclient.Client
	manager  *manager.Manager
}

// run sets the selected controllers up and lets them work while this process leads. It returns when
// ctx has ended and everything has finished, or when the process must not work.
func (p *process) run(ctx context.Context) error {
	err := p.manager.Run(ctx)
	if discovery, ok := errors.AsType[*manager.DiscoveryError](err); ok {
		return &startError{doing: "discovering resources", server: p.client.Config().Host, err: discovery.Err}
	}
	return err
}

// lead is the manager's: the informers run, so that the caches are warm when this process takes
// over. A leader that finds another controller of the same kind does not work.
func (p *process) lead(ctx context.Context, work func(alive context.Context)) error {
	p.observer.announce() // not earlier: after a wrong kubeconfig the error should be the only line
	var refusal error
	err := lead(ctx, p, func(alive context.Context) {
		refusal = p.refuse(ctx, alive)
		if refusal != nil || ctx.Err() != nil || alive.Err() != nil {
			return
		}
		said := make(chan struct{})
		keepSilent := context.AfterFunc(ctx, func() {
			defer close(said)
			p.logger.Info().Dur("at_most_s", p.options.drainTimeout).
				Msg("stopping: finishing work in progress; press Ctrl-C again to stop at once")
		})
		work(alive)
		if !keepSilent() {
			<-said // before the line that says that it has stopped
		}
	})
	return cmp.Or(err, refusal)
}

// refuseToStart returns an error if this process must not start beside another controller of the
// same kind. A candidate checks again when it leads, perhaps days later.
func refuseToStart(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	if options.electing() {
		logger = logs.New(logs.Config{Writer: io.Discard}) // it logs what it sees when it leads
	}
	return refuseSecond(ctx, client, options, logger)
}

// refuse returns an error if this process must not work although it leads. Each new leader looks
// for itself: its predecessor may have led for a moment only, because it found another controller.
func (p *process) refuse(ctx, alive context.Context) error {
	if !p.options.electing() {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(alive, cancel)()
	err := refuseSecond(ctx, p.client, p.options, p.logger)
	if ctx.Err() != nil {
		return nil // stopped or no longer the leader, which is the better error
	}
	return err
}

// stopped logs how a run ended that was stopped, and returns its exit code.
func (p *process) stopped(ctx context.Context) error {
	if left := p.manager.Left(); len(left) > 0 {
		p.logger.Warn().Strs("left", left).Msg("--shutdown-timeout has passed, some work is unfinished")
		return cmp.Or(program.Stopped(ctx), error(program.Exit(1)))
	}
	p.logger.Info().Msg("stopped")
	return program.Stopped(ctx)
}

// survivePanics lets event handlers and loops survive a panic: its stack is logged, once a minute,
// and the handler continues with the next event. Otherwise one unexpected object would stop all
// work, again after each restart. A pass over a namespace that panics counts as failed.
func survivePanics(logger *logs.Logger) (restore func()) {
	crash := wait.ReallyCrash.Swap(false)
	former := wait.PanicHandlers.Replace(func(_ context.Context, p *wait.Panic) {
		logger.Panic(nameOfPanic(p.Value), p.Stack)
	})
	return func() {
		former()
		wait.ReallyCrash.Store(crash)
	}
}

// nameOfPanic returns the message of a runtime error, but only the type of any other value, which
// may be an object with secrets.
func nameOfPanic(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", value)
}

// secondControllerError is the refusal to start beside another controller of the same kind.
type secondControllerError struct {
	controller string
	evidence   cluster.Evidence
}

func (e *secondControllerError) Error() string {
	if e.evidence.Verdict == cluster.Possible {
		return fmt.Sprintf("this cluster may have an active %s: %s; %s; if it is off, start with "+
			"--allow-second-controller", inWords(e.controller), e.evidence.How, e.evidence.SwitchOff)
	}
	return fmt.Sprintf("this cluster has an active %s: %s; %s, or start with --allow-second-controller",
		inWords(e.controller), e.evidence.How, e.evidence.SwitchOff)
}

// inWords returns the name of a controller in a sentence: "namespace controller".
func inWords(controller string) string { return strings.ReplaceAll(controller, "-", " ") }

// refuseSecond returns an error if the cluster has, or may have, another controller of the same
// kind as a selected one, and otherwise logs the evidence. It only reads. A dry run cannot
// conflict.
func refuseSecond(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	for _, d := range options.chosen {
		if !d.BuiltIn || options.allowSecond {
			continue
		}
		c := cluster.Controller{Name: d.Name, Alias: d.Alias}
		evidence, err := cluster.Look(ctx, client, c)
		if err != nil {
			return err
		}
		verdict, begin := evidence.Verdict, logger.Warn
		if verdict == cluster.Absent {
			begin = logger.Info
		} else if verdict != cluster.Unknown && !options.dryRun {
			return &secondControllerError{c.Name, evidence}
		}
		line := begin().Str("controller", c.Name).Str("detail", evidence.How)
		switch verdict {
		case cluster.Absent:
			line.Msg("no other controller of this kind is active")
		case cluster.Unknown:
			line.Msg("cannot determine whether another controller of this kind is active, continuing")
		case cluster.Possible:
			line.Msg("another controller of this kind may be active, without --dry-run this would not start")
		default:
			line.Msg("another controller of this kind is active, without --dry-run this would not start")
		}
	}
	return nil
}
