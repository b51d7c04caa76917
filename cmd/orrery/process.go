package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"orrery/internal/controllers"
	"orrery/internal/leaderelection"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/wait"
)

// process is what the parts of one run share once it is connected.
type process struct {
	options  *runOptions
	logger   *logs.Logger
	observer *observer
	fence    *leaderelection.Fence
	client   *restclient.Client
	manager  *controllers.Manager

	lastResort lastResort
}

// run sets the selected controllers up and lets them work when this process leads. It returns when ctx has ended and
// everything has finished, or when the process may not work (any more).
//
// The informers run all the time: when this process takes over, its caches are warm. They end after the controllers: one
// that finishes what it has in hand reads their stores.
func (p *process) run(ctx context.Context) error {
	defer p.lastResort.disarm()
	informersCtx, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	defer p.manager.Shutdown()
	defer stopInformers()
	if err := p.prepare(ctx, informersCtx); err != nil || ctx.Err() != nil {
		return err
	}
	p.observer.announce() // not sooner: after a wrong kubeconfig the error should be the only line

	var refusal error
	worked := false
	err := lead(ctx, p, func(alive context.Context, relieved bool, atWork func()) {
		refusal = p.refuse(ctx, alive, relieved)
		if refusal != nil || ctx.Err() != nil || alive.Err() != nil {
			return
		}
		worked = true
		if !p.options.second.allow { // who may work beside others knows nothing that would help a follower
			atWork()
		}
		p.work(ctx, alive)
	})
	if !worked {
		ended, end := context.WithCancel(ctx)
		end()
		p.manager.Work(ended, ended)
	}
	return cmp.Or(err, refusal)
}

// prepare sets the controllers up. The error is nil if ctx has ended.
func (p *process) prepare(ctx, informersCtx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	err := p.manager.Prepare(asking, informersCtx)
	if ctx.Err() != nil {
		return nil
	}
	if discovery, ok := errors.AsType[*controllers.DiscoveryError](err); ok {
		return &startError{doing: "discovering resources", server: p.client.Config().Host, err: discovery.Err}
	}
	return err
}

// refuseToStart returns why this process must not start beside another controller of the same kind. One that takes part in an election
// looks again when it leads: that may be days later.
func refuseToStart(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	if options.electing() {
		return refuseEvident(ctx, client, options)
	}
	return refuseSecond(ctx, client, options, logger)
}

// refuse returns why this process must not work although it leads. A successor of a leader that worked does not look: that
// leader has, and a takeover must not wait for the answer.
func (p *process) refuse(ctx, alive context.Context, relieved bool) error {
	if relieved || !p.options.electing() {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(alive, cancel)()
	err := refuseSecond(ctx, p.client, p.options, p.logger)
	if ctx.Err() != nil {
		return nil // stopped, or not the leader any more, which says more
	}
	return err
}

// work lets the controllers work until ctx ends and they have finished, or until alive ends.
func (p *process) work(ctx, alive context.Context) {
	stop, stopNow := context.WithCancel(alive)
	defer stopNow()
	defer context.AfterFunc(ctx, func() {
		p.logger.Info().Dur("at_most_s", p.options.drainTimeout).Msg("stopping: finishing what is in hand; press Ctrl-C again to stop at once")
		stopNow()
	})()
	defer context.AfterFunc(alive, func() { p.lastResort.within(lastMoment, context.Cause(alive)) })()
	p.manager.Work(stop, alive)
}

// lastMoment is how long a process may take to end that has lost its leadership, whatever holds it up: nothing that it does
// counts any more, and its supervisor is to start it again.
const lastMoment = 5 * time.Second

// lastResort ends the program if it has not ended by itself in time. The zero value with an exit is ready.
type lastResort struct {
	// exit does not return in a program. It is told why the end had to come.
	exit func(why error)

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	over  bool
}

// within gives the program that long. Only the first call counts.
func (l *lastResort) within(limit time.Duration, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over && l.timer == nil {
		l.timer = time.AfterFunc(limit, func() { l.exit(why) })
	}
}

// disarm is called when the program is about to end by itself.
func (l *lastResort) disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// survivePanics keeps a fault to where it happens: a handler of events or a loop that panics is told of, with its stack, and
// goes on with what comes next. Otherwise one unexpected object would end the work for all others, again after
// each restart. A pass over a namespace that panics has failed, with a wait.Panic; that needs no switch.
func survivePanics(logger *logs.Logger) (restore func()) {
	crash := wait.ReallyCrash.Swap(false)
	former := wait.PanicHandlers.Replace(func(_ context.Context, p *wait.Panic) {
		logger.Error().Str("panic", nameOfPanic(p.Value)).Bytes("stack", p.Stack).Msg("fault in this program, going on with what comes next")
	})
	return func() {
		former()
		wait.ReallyCrash.Store(crash)
	}
}

// nameOfPanic is what the Go runtime says of a fault, or the type of anything else, which may be an object.
func nameOfPanic(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", value)
}
