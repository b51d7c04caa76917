package demo

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"orrery"
	"orrery/internal/app/program"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
)

// recorded is the recording of a scene, for the page and for files. Without any of them it is
// empty, but for the context.
type recorded struct {
	running  context.Context // of the run, see demo.Recorded
	release  func()
	recorder *trace.Recorder // nil: nothing is recorded
	server   *view.Server    // nil: there is no page
	gates    *gate.Gates     // nil: there is no page
}

// startRecording starts what the flags demand. The caller must call close.
func (o *demoOptions) startRecording(ctx context.Context, out io.Writer) (r recorded, err error) {
	if !o.view && !o.record.Wanted() {
		return recorded{running: ctx, release: func() {}}, nil
	}
	scene, err := demo.Named(o.scene)
	if err != nil {
		return r, err
	}
	r.recorder, err = trace.Start(o.record.Config(trace.Header{
		Run: "lab demo", Mode: "lab", Scene: o.scene, Gears: o.gears.String(), Build: program.Version,
		Workers: scene.Workers(), Yours: slices.Sorted(maps.Keys(o.pages)),
	}))
	if err != nil {
		return r, fmt.Errorf("cannot record: %w", err)
	}
	r.recorder.Scene(o.scene, "")
	r.running, r.release = demo.Recorded(ctx, r.recorder, "the scene was stopped")
	if !o.view {
		return r, nil
	}
	r.gates = gate.New(r.running, r.recorder)
	r.gates.Guide(scene.Question())
	config := view.Config{Source: r.recorder, Control: r.gates, Code: view.Code{Files: orrery.Source}}
	config.Code.Yours = map[string]view.YourPage{}
	for path, file := range o.pages {
		config.Code.Yours[path] = view.YourPage{File: file}
	}
	if r.server, err = o.page.Start(config, out); err != nil {
		r.release()
		r.recorder.Stop(err.Error())
	}
	return r, err
}

// stop ends the recording. It returns why the recording is incomplete. The page stays.
func (r recorded) stop() error {
	if r.recorder == nil {
		return nil
	}
	r.recorder.Stop("the scene has ended")
	return r.recorder.Err()
}

// linger keeps the page, if there is one, until ctx ends: the reader wants to look at the end, too.
func (r recorded) linger(ctx context.Context, out io.Writer) {
	if r.server != nil && ctx.Err() == nil {
		fmt.Fprintf(out, "\nThe scene is over. The view stays until Ctrl-C: %s\n", r.server.URL())
		<-ctx.Done()
	}
}

// close ends the recording and the page.
func (r recorded) close() {
	r.release()
	_ = r.stop() // the first call has returned the error
	if r.server != nil {
		r.server.Stop()
	}
}
