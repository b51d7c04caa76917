package fork_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/gears"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/view"
	"orrery/internal/lab/view/fork"
	"orrery/internal/observe/trace"
	"orrery/restclient/restclienttest"
)

// lab is a server in virtual time, with what records and holds its clients.
type lab struct {
	config   fork.Config
	recorder *trace.Recorder
	file     string
}

// open returns a lab in the bubble of the test.
func open(t *testing.T, ctx context.Context, header trace.Header) *lab {
	l := &lab{file: filepath.Join(t.TempDir(), "run.jsonl")}
	var err error
	header.Mode, header.Clock = "lab", "virtual"
	l.recorder, err = trace.Start(trace.Config{File: l.file, Header: header})
	require.NoError(t, err)
	server, made, err := demo.NewServer("", l.recorder)
	require.NoError(t, err)
	t.Cleanup(func() {
		demo.StopServer(server)
		l.recorder.Stop("the test is over")
	})
	wire := restclienttest.NewTLSServer(t, server.Handler(), restclienttest.NewAuthority(t), nil)
	l.config = fork.Config{
		Recorder: l.recorder, Gates: view.New(ctx, l.recorder), Server: wire.Config(), Credentials: made, Faults: server.Faults(),
	}
	return l
}

const objects = 30

// record plays a scene as the view shows it, and returns its recording.
func record(t *testing.T, scene scenes.Scene, set gears.Set) (recording []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		l := open(t, ctx, trace.Header{Scene: scene.Name, Gears: set.String()})
		guide := view.NewSession(scene.Name, l.recorder, l.config.Gates)
		guide.Answer("whatever")
		on, err := stage.Open(ctx, stage.Config{
			Teller: scene.Story(), Server: l.config.Server, Credentials: l.config.Credentials, Faults: l.config.Faults, Objects: objects,
			Gears: set, Recorder: l.recorder, Guide: guide, Gates: l.config.Gates,
		}, scene.Options)
		require.NoError(t, err)
		require.NoError(t, scene.Play(ctx, on))
		l.recorder.Stop("the scene has ended") // before the controllers end
		on.Close()
		recording, err = os.ReadFile(l.file)
		require.NoError(t, err)
	})
	return recording
}

// forked forks a recording at an input in virtual time, and returns the result after each input.
func forked(t *testing.T, r *fork.Recording, at, without int) map[int]fork.Result {
	t.Helper()
	results := map[int]fork.Result{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		l := open(t, ctx, trace.Header{Scene: r.Scene.Name, Gears: r.Gears.String()})
		l.config.At, l.config.Without = at, without
		l.config.Done = func(input fork.Input, result fork.Result) { results[input.Number] = result }
		on, err := r.Start(ctx, l.config)
		require.NoError(t, err)
		on.Close()
	})
	return results
}

// A fork at each input of every scene reaches the state that the recording had.
func TestForkReachesTheSameState(t *testing.T) {
	for _, scene := range scenes.All() {
		scene = scene.Guided()
		if scene.Alone() {
			continue
		}
		t.Run(scene.Name, func(t *testing.T) {
			r, err := fork.Read(bytes.NewReader(record(t, scene, gears.Set{})))
			require.NoError(t, err)
			require.Nil(t, r.Refused)
			for _, input := range r.Inputs {
				require.Nil(t, input.Refused, "%v", input)
			}
			last, compared := len(r.Inputs), 0
			for n, result := range forked(t, r, last, 0) {
				assert.Empty(t, result.Differences, "after input %d of %d, %v", n, last, r.Inputs[n-1])
				if result.Compared {
					compared++
				}
			}
			t.Log(last, compared)
		})
	}
}
