package fork

import (
	"context"
	"fmt"
	"sync"

	"orrery/internal/lab/demo"
	"orrery/internal/lab/view"
	"orrery/internal/observe/trace"
	observed "orrery/internal/observe/view"
	"orrery/internal/program"
)

// Live is a fork with a server and a page of its own. [Recording.Live] returns one.
type Live struct {
	page   *observed.Server
	stop   context.CancelFunc
	ended  chan struct{} // closed when nothing is left
	rested chan struct{} // closed when the inputs are done, or one has failed
	once   sync.Once
	err    error // why the fork ended before Stop; set before rested is closed
}

// Live starts a fork. It does the inputs in the background, calls done after each, and then goes on
// until Stop or the end of ctx. serve starts the page.
func (r *Recording) Live(ctx context.Context, at, without int, serve func(observed.Config) (*observed.Server, error), done func(Input, Result)) (*Live, error) {
	if err := r.Check(at, without); err != nil {
		return nil, err
	}
	header := trace.Header{
		Run: fmt.Sprintf("lab replay --fork %d", at), Mode: "lab", Scene: r.Scene.Name, Gears: r.Gears.String(),
		Build: program.Version, Workers: r.Scene.Workers(),
	}
	if without > 0 {
		header.Run += fmt.Sprintf(" --without %d", without)
	}
	recorder, err := trace.Start(trace.Config{Header: header})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	l := &Live{stop: stop, ended: make(chan struct{}), rested: make(chan struct{})}
	running, release := demo.Recorded(ctx, recorder, "the fork was stopped")
	gates := view.New(running, recorder)
	if l.page, err = serve(observed.Config{Source: recorder, Control: gates}); err != nil {
		release()
		stop()
		recorder.Stop(err.Error())
		return nil, err
	}
	go func() {
		defer close(l.ended)
		defer l.page.Stop()
		defer release()
		recorder.Forked("running", "")
		err := l.run(running, r, Config{At: at, Without: without, Recorder: recorder, Gates: gates, Done: func(input Input, result Result) {
			if input.Number == at {
				recorder.Forked(result.Outcome())
			}
			done(input, result)
		}})
		if err != nil {
			recorder.Forked("failed", err.Error())
			recorder.Stop("the fork has failed")
		}
		l.rest(err)
		<-ctx.Done() // the page shows why it has ended
	}()
	return l, nil
}

// run runs the fork until ctx ends, or an input fails.
func (l *Live) run(ctx context.Context, r *Recording, config Config) error {
	server, made, err := demo.NewServer("", config.Recorder)
	if err != nil {
		return err
	}
	defer demo.StopServer(server)
	if err := server.Start(ctx); err != nil {
		return err
	}
	config.Server, config.Credentials, config.Faults = demo.Connection(server), made, server.Faults()
	end, err := r.Start(ctx, config)
	if err != nil {
		return err
	}
	defer end()
	l.rest(nil)
	<-ctx.Done()
	return nil
}

func (l *Live) rest(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.rested)
	})
}

// URL returns the address of the page.
func (l *Live) URL() string { return l.page.URL() }

// Rest blocks until the inputs are done and the pipeline is at rest. The error is that of an input.
func (l *Live) Rest() error {
	<-l.rested
	return l.err
}

// Stop ends the fork and returns when nothing is left of it.
func (l *Live) Stop() {
	l.stop()
	<-l.ended
}
