package democmd

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"orrery/internal/lab/demo/scenes"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/internal/program"
)

// recorded is the recording of a scene, for the page and for files. Without any of them it is empty.
type recorded struct {
	recorder *trace.Recorder // nil: nothing is recorded
	server   *view.Server    // nil: there is no page
}

// startRecording starts what the flags demand. The caller must call stop.
func (o *demoOptions) startRecording(out io.Writer) (recorded, error) {
	if !o.view && o.record == "" && o.chrome == "" {
		return recorded{}, nil
	}
	scene := cmp.Or(o.scene, scenes.Default)
	recorder, err := trace.Start(trace.Config{
		Header: trace.Header{Run: "lab demo", Mode: "lab", Scene: scene, Gears: o.gears.String(), Build: program.Version},
		File:   o.record, Chrome: o.chrome,
	})
	if err != nil {
		return recorded{}, err
	}
	recorder.Scene(scene, "")
	if !o.view {
		return recorded{recorder: recorder}, nil
	}
	server, err := o.viewFlags.Start(view.Config{Source: recorder}, out)
	if err != nil {
		recorder.Stop(err.Error())
		return recorded{}, err
	}
	return recorded{recorder: recorder, server: server}, nil
}

// linger keeps the page until ctx ends: the reader wants to look at the end of the scene, too.
func (r recorded) linger(ctx context.Context, out io.Writer) {
	r.recorder.Stop("the scene is over")
	fmt.Fprintf(out, "\nThe scene is over. The view stays until Ctrl-C: %s\n", r.server.URL())
	<-ctx.Done()
}

// stop ends the recording and the page. The error is that of the files.
func (r recorded) stop(ctx context.Context) error {
	if r.recorder == nil {
		return nil
	}
	reason := "the scene is over"
	if ctx.Err() != nil {
		reason = "it was stopped"
	}
	r.recorder.Stop(reason)
	if r.server != nil {
		r.server.Stop()
	}
	return r.recorder.Err()
}
