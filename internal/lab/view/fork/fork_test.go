package fork_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/gears"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/view"
	"orrery/internal/lab/view/fork"
	"orrery/internal/observe/trace"
	observed "orrery/internal/observe/view"
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

const objects = 10

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
// The recording of the fork has the same inputs, so it can be forked again.
func forked(t *testing.T, r *fork.Recording, at, without int) map[int]fork.Result {
	t.Helper()
	results := map[int]fork.Result{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		l := open(t, ctx, trace.Header{Scene: r.Scene.Name, Gears: r.Gears.String()})
		l.config.At, l.config.Without = at, without
		l.config.Done = func(input fork.Input, result fork.Result) { results[input.Number] = result }
		stop, err := r.Start(ctx, l.config)
		require.NoError(t, err)
		l.recorder.Stop("forked")
		began := time.Now()
		stop()
		assert.Less(t, time.Since(began), time.Minute, "an action that waits ends")
		var want, got []string
		for _, input := range r.Inputs[:at] {
			if input.Number != without {
				want = append(want, input.String())
			}
		}
		again, err := os.ReadFile(l.file)
		require.NoError(t, err)
		for _, input := range read(t, again).Inputs {
			got = append(got, input.String())
		}
		assert.Equal(t, want, got)
	})
	return results
}

// quick are the scenes that are played with -short, with the race detector in a second or two each.
var quick = []string{"errors", "two-ways-of-410", "slow-consumer", "store-decides", "resync", "finalizer"}

// A fork at each input of every scene reaches the state that the recording had. A fork at an input
// passes through the states of the inputs before it, so the last one shows most; without -short,
// there is one at each input.
func TestForkReachesTheSameState(t *testing.T) {
	for _, scene := range scenes.All() {
		scene = scene.Guided()
		if scene.Alone() || testing.Short() && !slices.Contains(quick, scene.Name) {
			continue
		}
		t.Run(scene.Name, func(t *testing.T) {
			r := read(t, record(t, scene, gears.Set{}))
			require.Nil(t, r.Refused)
			last, compared := len(r.Inputs), 0
			for n, result := range forked(t, r, last, 0) {
				assert.Empty(t, result.Differences, "after input %d of %d, %v", n, last, r.Inputs[n-1])
				if result.Compared {
					compared++
				}
			}
			assert.Positive(t, compared)
			for at := 1; at < last && !testing.Short(); at++ {
				result := forked(t, r, at, 0)[at]
				assert.Empty(t, result.Differences, "forked at input %d of %d, %v", at, last, r.Inputs[at-1])
			}
		})
	}
}

// The textbook's gears settle as they did.
func TestForkWithTextbookGears(t *testing.T) {
	set, err := gears.Parse(gears.Textbook)
	require.NoError(t, err)
	scene, err := scenes.Named("slow-consumer")
	require.NoError(t, err)
	r := read(t, record(t, scene.Guided(), set))
	assert.Equal(t, gears.Textbook, r.Gears.String())
	for n, result := range forked(t, r, len(r.Inputs), 0) {
		assert.Empty(t, result.Differences, "after input %d, %v", n, r.Inputs[n-1])
	}
}

// What a reader does to the gates is done again.
func TestForkDoesWhatWasDoneToTheGates(t *testing.T) {
	r := read(t, []byte(header+inputs(
		"create-namespace", "", "close", "G7 key==shop/red", "create-configmap", "red", "start-plain", "--workers=1",
		"run", "key==shop/blue && gate==G2", "create-configmap", "blue", "step", `G2 key=="shop/blue" && resource=="configmaps"`, "open", "G2", "close", "G5", "release", "")))
	forked(t, r, len(r.Inputs), 0)
}

// One input may be left out: what follows from it is missing. An input that needs it fails.
func TestForkWithoutAnInput(t *testing.T) {
	scene, err := scenes.Named("store-decides")
	require.NoError(t, err)
	r := read(t, record(t, scene, gears.Set{}))
	number := func(input string) int {
		i := slices.IndexFunc(r.Inputs, func(i fork.Input) bool { return i.String() == input })
		require.GreaterOrEqual(t, i, 0, "%s is none of %v", input, r.Inputs)
		return r.Inputs[i].Number
	}
	last := len(r.Inputs)
	assert.Equal(t, []string{"store configmaps: +shop/plum"},
		forked(t, r, last, number("delete-configmap plum"))[last].Differences)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, t.Context(), trace.Header{})
		l.config.At, l.config.Without = last, number("create-configmap plum")
		_, err := r.Start(t.Context(), l.config)
		assert.ErrorContains(t, err, fmt.Sprintf("(delete-configmap plum) cannot be done without input %d: configmaps \"plum\" not found", l.config.Without))
	})
}

// A reader holds at G2, looks, and presses Ctrl-C. The recording ends in the state that the reader
// has seen, and a fork at the last input is compared with that. A recording of an earlier version
// ends with gears that have shut down, so there is nothing to compare.
func TestForkOfARunThatWasStopped(t *testing.T) {
	for name, earlier := range map[string]bool{"recorded": false, "recorded by an earlier version": true} {
		t.Run(name, func(t *testing.T) {
			r := read(t, recordOneKey(t, func(ctx context.Context, l *lab, on *stage.Stage) {
				require.NoError(t, on.CreateConfigMap(ctx, "red"))
				require.NoError(t, on.StartPlain(ctx, stage.Plain{Workers: 1}))
				time.Sleep(time.Second)
				l.config.Gates.Close(view.G2, view.Condition{})
				require.NoError(t, on.LabelConfigMap(ctx, "red", "n", "1"))
				require.NoError(t, on.DeleteConfigMap(ctx, "red"))
				time.Sleep(10 * time.Second)
			}, earlier))
			last := len(r.Inputs)
			assert.Equal(t, fork.Result{Compared: !earlier}, forked(t, r, last, 0)[last])
		})
	}
}

// A reader closes and opens gates while an action of the script waits for what they hold. In the
// fork, the action gets its release, and the next one comes when it has returned. A fork at the
// action goes on live, and its gate can be opened there.
func TestForkOfInputsAtTheSameTime(t *testing.T) {
	r := read(t, recordOneKey(t, func(ctx context.Context, l *lab, on *stage.Stage) {
		require.NoError(t, on.CreateConfigMap(ctx, "red"))
		l.config.Gates.Close(view.G6, view.Condition{})
		time.AfterFunc(time.Second, func() { l.config.Gates.Close(view.G7, view.Condition{}) })
		time.AfterFunc(2*time.Second, l.config.Gates.Release)
		require.NoError(t, on.StartPlain(ctx, stage.Plain{Workers: 1}))
		require.NoError(t, on.CreateConfigMap(ctx, "blue"))
		time.Sleep(2 * time.Second)
	}, false))
	last := len(r.Inputs)
	assert.Equal(t, "create-configmap blue", r.Inputs[last-1].String())
	results := forked(t, r, last, 0)
	for n, input := range r.Inputs {
		assert.Empty(t, results[n+1].Differences, input)
	}
	assert.True(t, results[last].Compared)

	action := last - 3 // close, release, create-configmap
	assert.Equal(t, "start-plain --workers=1", r.Inputs[action-1].String())
	assert.Equal(t, fork.Result{Compared: true}, forked(t, r, action, 0)[action], "it waits as in the recording")
	live(t, r, action, func(l *lab) {
		l.config.Gates.Release()
		time.Sleep(time.Second)
		assert.Equal(t, "synced", l.recorder.State().Informers["configmaps"].Phase)
	})
}

// The script goes on when its action has returned, whatever a reader does meanwhile.
func TestForkKeepsTheOrderOfTheScript(t *testing.T) {
	r := read(t, recordOneKey(t, func(ctx context.Context, l *lab, on *stage.Stage) {
		require.NoError(t, on.CreateConfigMap(ctx, "red"))
		time.AfterFunc(time.Second, func() { l.config.Gates.Close(view.G7, view.Condition{}) })
		require.NoError(t, on.UpdateConfigMap(ctx, "red", 20, 500*time.Millisecond))
		require.NoError(t, on.DeleteConfigMap(ctx, "red"))
	}, false))
	last := len(r.Inputs)
	assert.Equal(t, "delete-configmap red", r.Inputs[last-1].String())
	live(t, r, last, func(l *lab) {
		assert.GreaterOrEqual(t, l.recorder.State().Time, (10 * time.Second).Microseconds(), "the deletion comes behind twenty updates")
	})
}

// live forks a recording at an input, and calls look while the fork goes on.
func live(t *testing.T, r *fork.Recording, at int, look func(l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l := open(t, ctx, trace.Header{})
		l.config.At = at
		stop, err := r.Start(ctx, l.config)
		require.NoError(t, err)
		look(l)
		stop()
	})
}

// A step lets the recorded item through, although others with its key wait at the gate: the call of
// another handler, another request. A recording of an earlier version says only the key.
func TestForkStepsTheRecordedItem(t *testing.T) {
	const second = "second"
	r := read(t, recordOneKey(t, func(ctx context.Context, l *lab, on *stage.Stage) {
		gates := l.config.Gates
		require.NoError(t, on.StartInformer(ctx, "first", second, "third"))
		gates.Close(view.G4, view.Condition{})
		require.NoError(t, on.CreateConfigMap(ctx, "red"))
		require.NoError(t, gates.Await(ctx, view.G4, 3))
		_, ok := gates.StepFirst(view.G4, func(item view.Item) bool { return item.Handler == second })
		assert.True(t, ok)
	}, false))
	last := len(r.Inputs)
	assert.Equal(t, `step G4 key=="shop/red" && resource=="configmaps" && handler=="second"`, r.Inputs[last-1].String())
	left := func(l *lab) (handlers []string) {
		for _, item := range l.config.Gates.Waiting(view.G4) {
			handlers = append(handlers, item.Handler)
		}
		return handlers
	}
	live(t, r, last, func(l *lab) { assert.ElementsMatch(t, []string{"first", "third"}, left(l)) })
	for _, other := range []string{"G4 shop/red", `G4 key=="shop/red" && handler=="fourth"`} {
		r.Inputs[last-1].Arguments = other
		live(t, r, last, func(l *lab) { assert.Len(t, left(l), 2, "one call goes on") })
	}
}

// recordOneKey records what play does to the bare stage of one-key, with its namespace, until the
// run is stopped.
func recordOneKey(t *testing.T, play func(ctx context.Context, l *lab, on *stage.Stage), earlier bool) (recording []byte) {
	t.Helper()
	scene, err := scenes.Named("one-key")
	require.NoError(t, err)
	scene = scene.Guided()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l := open(t, ctx, trace.Header{Scene: scene.Name, Gears: gears.Fast})
		running, release := demo.Recorded(ctx, l.recorder, "stopped")
		defer release()
		if earlier {
			running = ctx
		}
		l.config.Gates = view.New(running, l.recorder)
		on, err := stage.Open(running, stage.Config{
			Teller: scene.Story(), Server: l.config.Server, Credentials: l.config.Credentials, Faults: l.config.Faults, Recorder: l.recorder, Gates: l.config.Gates,
		}, scene.Options)
		require.NoError(t, err)
		require.NoError(t, on.CreateNamespace(running))
		play(running, l, on)
		if earlier {
			release()
		}
		cancel()
		synctest.Wait()
		on.Close()
		l.recorder.Stop("closed")
		recording, err = os.ReadFile(l.file)
		require.NoError(t, err)
	})
	return recording
}

// A fork ends with its context, in the middle of an input, too, and leaves nothing behind.
func TestForkIsStopped(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := read(t, []byte(header+inputs("create-namespace", "", "create-configmap", "red", "update-configmap", "red 1000000 1h")))
	ctx, cancel := context.WithCancel(t.Context())
	live, err := r.Live(ctx, 1, 0, observed.Start, func(fork.Input, fork.Result) {})
	require.NoError(t, err)
	require.NoError(t, live.Rest())
	answer, err := http.Get(live.URL())
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	live.Stop()
	http.DefaultClient.CloseIdleConnections()

	live, err = r.Live(ctx, 3, 0, observed.Start, func(input fork.Input, _ fork.Result) {
		if input.Name == "create-configmap" {
			cancel()
		}
	})
	require.NoError(t, err)
	assert.ErrorIs(t, live.Rest(), context.Canceled)
	live.Stop()
}

// header is the first line of a recording of the laboratory.
const header = `{"h":1,"schema":"orrery.trace/1","start":"2026-05-04T10:02:11Z","clock":"real","mode":"lab","scene":"one-key","gears":"fast"}` + "\n"

// inputs are the lines of inputs: name, arguments, name, and so on.
func inputs(texts ...string) string {
	var lines strings.Builder
	for i := 0; i < len(texts); i += 2 {
		fmt.Fprintf(&lines, `{"s":%d,"t":%d,"e":"lab.input","name":%q,"args":%q}`+"\n", i/2+1, i, texts[i], texts[i+1])
	}
	return lines.String()
}

func read(t *testing.T, recording []byte) *fork.Recording {
	t.Helper()
	r, err := fork.Read(bytes.NewReader(recording))
	require.NoError(t, err)
	return r
}

// Each refusal says why, and what to do.
func TestForkIsRefused(t *testing.T) {
	two := inputs("create-namespace", "", "create-configmap", "red")
	replaced := func(old, new string) string { return strings.Replace(header, old, new, 1) + two }
	for code, c := range map[string]struct{ recording, want string }{
		"cluster": {replaced(`"lab"`, `"cluster"`), "on a real cluster, which cannot be put back to an earlier state; fork a recording of lab demo"},
		"scene":   {replaced("one-key", "two-keys"), "of no scene that this program has; fork a recording of lab demo"},
		"yours":   {replaced(`"mode"`, `"yours":["queue/queue.go"],"mode"`), "gears of your own (queue/queue.go), which this program does not have; record the scene again"},
		"gears":   {replaced(`"fast"`, `"wooden"`), `the gears "wooden", which this program does not have; use the version`},
		"others": {header + two + `{"s":3,"t":9,"e":"apiserver.requestDone","verb":"patch","user":"kubernetes-admin","code":200}` + "\n",
			"kubernetes-admin wrote to the server during the run, and the recording does not have what it wrote; record the scene again"},
		"middle":  {header + `{"s":7,"t":0,"e":"trace.state"}` + "\n" + two, "begins in the middle of the run, without the first inputs; record it again"},
		"none":    {header, "the recording has no input; record the scene with a server: lab demo --scene one-key --view"},
		"alone":   {strings.Replace(header, "one-key", "stall", 1), "the scene stall plays without a server, so it has no inputs; fork the recording of another"},
		"broken":  {header + inputs("create-namespace", "") + "{\n" + two, "line 3 of the recording is broken, so an input before this one may be missing; fork at an input before"},
		"lost":    {header + inputs("create-namespace", "") + `{"s":2,"t":1,"e":"trace.lost","n":1,"lost":{"lab":1}}` + "\n" + two, "events of the laboratory were lost"},
		"unknown": {header + inputs("create-namespace", "", "dance", "", "create-configmap", "red"), `does not know the input "dance"; use the version`},
		"cut":     {header + inputs("create-namespace", "", "run", "key==…", "create-configmap", "red"), `the arguments of the input "run" were too long for the recording; fork at an input before it`},
	} {
		r := read(t, []byte(c.recording))
		err := r.Check(max(1, len(r.Inputs)), 0)
		if refusal, ok := errors.AsType[*fork.Refusal](err); assert.True(t, ok, "%s: %v", code, err) {
			assert.Equal(t, code, refusal.Code)
			assert.Contains(t, err.Error(), c.want)
		}
		if partly := []string{"broken", "lost", "unknown", "cut"}; slices.Contains(partly, code) {
			assert.NoError(t, r.Check(1, 0), "%s: the first input is before it", code)
		}
	}
	later := strings.NewReplacer(`"s":1,`, `"s":9001,`, `"s":2,`, `"s":9002,`).Replace(two)
	for name, recording := range map[string]string{
		"a page saved it with a gap":   inputs("create-namespace", "") + `{"s":9000,"t":5,"e":"trace.state","skipped":8998,"state":{"s":9000}}` + "\n" + later,
		"the state has no number":      inputs("create-namespace", "") + `{"t":5,"e":"trace.state","state":{"s":9000}}` + "\n" + later,
		"a number is missing":          inputs("create-namespace", "") + strings.Replace(two, `"s":1,`, `"s":3,`, 1),
		"a page has forgotten a start": `{"t":5,"e":"trace.state","state":{"s":9000}}` + "\n" + later,
	} {
		r := read(t, []byte(header+recording))
		assert.Error(t, r.Check(len(r.Inputs), 0), name)
		assert.Equal(t, strings.HasPrefix(recording, `{"s":1,`), r.Check(1, 0) == nil, "%s: the first input is before it", name)
	}
	assert.NoError(t, read(t, []byte(header+`{"t":0,"e":"trace.state","state":{"s":0}}`+"\n"+two)).Check(2, 0), "a page that was there from the start saves this")
	r := read(t, []byte(header+two[:len(two)-20]))
	assert.NoError(t, r.Check(1, 0), "a cut last line is normal")
	assert.EqualError(t, r.Check(2, 0), "there is no input 2; the recording has the inputs 1 to 1")
	assert.EqualError(t, read(t, []byte(header+two)).Check(1, 2), "input 2 cannot be left out: it must be before input 1, at which the fork goes on")
	assert.ErrorContains(t, read(t, []byte(header+two)).Check(1, 1), "input 1 cannot be left out", "the fork goes on after an input that was done")
}

// Every input that the laboratory records is in the table of actions.
func TestForkKnowsEveryInput(t *testing.T) {
	recorded := regexp.MustCompile(`(?:\.input|\.inputLocked|\.Input)\("([^"]+)"`)
	names := 0
	for _, directory := range []string{"../../demo/stage", ".."} {
		files, err := filepath.Glob(filepath.Join(directory, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, found := range recorded.FindAllStringSubmatch(string(text), -1) {
				names++
				r := read(t, []byte(header+inputs("create-namespace", "", found[1], "")))
				assert.Nil(t, r.Inputs[len(r.Inputs)-1].Refused, "%s: %s", file, found[1])
			}
		}
	}
	assert.Greater(t, names, 30)
}
