package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
	"orrery/internal/observe/web"
	"orrery/wait"
)

// guided are the guided scenes with the answer that sound gears give.
var guided = func() map[string]string {
	answers := map[string]string{}
	for _, scene := range All() {
		if question := scene.Question(); len(question.Choices) > 0 {
			answers[scene.Name] = question.Answer
		}
	}
	return answers
}()

// recordings are the recordings of the scenes with the fast gears, which several tests look at.
var recordings = map[string][]byte{}

// recordedWith returns the recording of a scene with the fast gears.
func recordedWith(t *testing.T, scene string) []byte {
	t.Helper()
	if recordings[scene] == nil {
		recordings[scene] = recorded(t, scene, run{})
	}
	return recordings[scene]
}

// recorded plays a guided scene in virtual time, answers its question, and returns the recording.
func recorded(t *testing.T, name string, r run) []byte {
	t.Helper()
	r.file, r.reader = filepath.Join(t.TempDir(), name+".jsonl"), answer
	r.play(t, name, nil)
	recording, err := os.ReadFile(r.file)
	require.NoError(t, err)
	return recording
}

// answer waits for the question, thinks for a while, and chooses an answer. Until then nothing is
// revealed.
func answer(ctx context.Context, s *Stage) {
	const thinks = 5 * time.Second
	for s.Recorder.State().Lab.Choices == "" && ctx.Err() == nil {
		_ = wait.Sleep(ctx, 100*time.Millisecond)
	}
	if wait.Sleep(ctx, thinks) != nil {
		return
	}
	first, _, _ := strings.Cut(s.Recorder.State().Lab.Choices, trace.ChoiceSeparator)
	_ = s.Gates.Do(web.Command{Do: "answer", Choice: first})
}

// What a scene holds goes on only after the answer to its question.
func TestScenesHoldUntilTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder, err := trace.Start(trace.Config{})
		require.NoError(t, err)
		defer recorder.Stop("over")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gates := NewGates(ctx, recorder)
		gates.Guide(oneKey.Question())
		gates.Close(G5, Filter{}) // by the scene
		for _, key := range []string{"a", "b"} {
			go gates.Wait(ctx, Item{Gate: G5, Key: key})
			synctest.Wait()
		}
		for _, do := range []string{"open", "close", "step", "release"} {
			err := gates.Do(web.Command{Do: do, Gate: "G5"})
			assert.EqualError(t, err, "the gates are the scene's until its question is answered", do)
		}
		gates.Release() // the page has gone
		held := func() []string { return recorder.State().Lab.Held["G5"] }
		assert.Equal(t, []string{"a", "b"}, held())

		require.NoError(t, gates.Do(web.Command{Do: "answer", Choice: "1"}))
		require.NoError(t, gates.Do(web.Command{Do: "step"}))
		assert.Equal(t, []string{"b"}, held(), "the oldest goes")
		gates.Release()
		assert.Empty(t, held())
	})
}

// Every guided scene asks, reveals what its events say, and loses no event.
func TestScenesAnswerTheirQuestions(t *testing.T) {
	for _, form := range []string{gears.Fast, gears.Textbook} {
		set, err := gears.Parse(form)
		require.NoError(t, err)
		for name, want := range guided {
			t.Run(form+"/"+name, func(t *testing.T) {
				recording := recorded(t, name, run{set: set})
				_, last, err := tracetest.Read(bytes.NewReader(recording))
				require.NoError(t, err)
				assert.Empty(t, last.Lost, "no event is lost")
				assert.Zero(t, last.Odd)
				assert.Equal(t, "the scene has ended", last.Ended)

				lines := parsed(t, recording)
				asked, revealed := find(lines, "lab.question"), find(lines, "lab.answer")
				chosen := slices.IndexFunc(lines,
					func(e line) bool { return e["e"] == "lab.input" && e["name"] == "answer" })
				require.Positive(t, asked)
				require.Greater(t, chosen, asked, "the reader chooses after the question")
				require.Greater(t, revealed, chosen, "the scene reveals after the choice")
				assert.Equal(t, want, lines[revealed]["text"])
				assert.Equal(t, want, computed[name](lines[:revealed], asked), "computed from the events")
				assert.Contains(t, strings.Split(lines[asked]["args"].(string), trace.ChoiceSeparator), want)
				assert.NotEqual(t, want, computed[name](lines[:chosen], asked), "the reader cannot know it before")
			})
		}
	}
}

// What the second list brings waits at G4, one call at a time, whatever gears store and distribute
// the objects.
func TestSceneStoreDecidesHoldsWithEveryGear(t *testing.T) {
	for _, form := range []string{"fast", "textbook", "fast,deltafifo=inorder", "fast,informer=textbook"} {
		t.Run(form, func(t *testing.T) {
			set, err := gears.Parse(form)
			require.NoError(t, err)
			lines := parsed(t, recorded(t, "store-decides", run{set: set}))
			held := pick(lines, "k", "lab.held", line{"gate": "G4"})
			assert.ElementsMatch(t, []string{"shop/kiwi", "shop/pear", "shop/plum"}, held)
			assert.Equal(t, held, pick(lines, "k", "lab.stepped", line{"gate": "G4"}), "one at a time")
			assert.Equal(t, held, pick(lines[find(lines, "lab.held"):], "k", "informer.handled", nil))
		})
	}
}

// line is an event of a recording, as plain JSON.
type line = map[string]any

func parsed(t *testing.T, recording []byte) (lines []line) {
	t.Helper()
	for text := range bytes.Lines(recording) {
		var e line
		require.NoError(t, json.Unmarshal(text, &e))
		if e["e"] != nil { // neither a header nor a state
			lines = append(lines, e)
		}
	}
	return lines
}

func find(lines []line, name string) int {
	return slices.IndexFunc(lines, func(e line) bool { return e["e"] == name })
}

// pick returns a field of the events with this name and these fields.
func pick(lines []line, field, name string, where line) (values []string) {
	for _, e := range lines {
		fits := e["e"] == name
		for key, value := range where {
			fits = fits && e[key] == value
		}
		if fits {
			values = append(values, fmt.Sprint(e[field]))
		}
	}
	return values
}

// computed has the functions that compute the answers from lines, with the question at number
// asked.
var computed = map[string]func(lines []line, asked int) string{
	"slow-consumer": func(lines []line, asked int) string {
		red := line{"k": "shop/red"}
		pops := pick(lines[asked:], "d", "deltafifo.popped", red)
		return fmt.Sprintf("%d · %d · %d", len([]rune(strings.Join(pops, ""))), len(pops),
			len(pick(lines[asked:], "kind", "informer.handled", red)))
	},
	"store-decides": func(lines []line, asked int) string {
		kind := func(name string) string {
			return strings.Join(pick(lines[asked:], "kind", "informer.applied", line{"k": "shop/" + name}), "")
		}
		return strings.NewReplacer("update", "OnUpdate", "add", "OnAdd").Replace(kind("pear") + " · " + kind("kiwi"))
	},
	"expired-watch": func(lines []line, asked int) string {
		of := line{"i": "configmaps"}
		events := map[string]bool{}
		for _, key := range pick(lines, "k", "reflector.event", line{"i": "configmaps", "type": "DELETED"}) {
			events[key] = true
		}
		keys, deltas := pick(lines, "k", "deltafifo.queued", of), pick(lines, "d", "deltafifo.queued", of)
		found := ""
		for i, key := range keys {
			if last := []rune(deltas[i]); !events[key] && strings.ContainsRune("D†", last[len(last)-1]) &&
				!strings.ContainsRune(found, last[len(last)-1]) {
				found += string(last[len(last)-1])
			}
		}
		return found
	},
	"slow-handler": func(lines []line, asked int) string {
		waiting := map[string]float64{}
		for _, e := range lines {
			name, _ := e["h"].(string)
			n, _ := e["n"].(float64)
			switch {
			case e["i"] != "configmaps":
			case e["e"] == "informer.handlerQueued", e["e"] == "informer.handlerAdded":
				waiting[name] += n
			case e["e"] == "informer.handled":
				waiting[name]--
			}
		}
		var late []string
		for name, n := range waiting {
			if n > 0 {
				late = append(late, strings.Split(name, "#")[0])
			}
		}
		sort.Strings(late)
		return strings.Join(late, ", ")
	},
	"one-key": func(lines []line, asked int) string {
		return fmt.Sprint(len(pick(lines[asked:], "k", "queue.got", line{"k": "shop/red"})))
	},
	"back-off": func(lines []line, asked int) string {
		delays := pick(lines, "us", "queue.retried", line{"k": "shop/web"})
		if len(delays) < 4 {
			return ""
		}
		var micros float64
		_, _ = fmt.Sscan(delays[3], &micros)
		return fmt.Sprintf("%.1fs", micros/1e6)
	},
	"broken-apiservice": held, "finalizer": held,
	"delete": func(lines []line, asked int) string {
		var gone []string // the types of what is deleted, one after the other
		for _, resource := range pick(lines[asked:], "i", "reflector.event", line{"type": "DELETED"}) {
			if resource != "namespaces" {
				gone = append(gone, resource)
			}
		}
		if len(gone) == 0 {
			return ""
		}
		return gone[0] + " · " + gone[len(gone)-1]
	},
}

// held returns the conditions that are True after the lines.
func held(lines []line, _ int) string {
	status := map[string]string{}
	for _, e := range lines {
		if e["e"] == "nsctl.conditionsUpdated" {
			status[strings.TrimPrefix(fmt.Sprint(e["type"]), "Namespace")] = fmt.Sprint(e["status"])
		}
	}
	var names []string
	for name, s := range status {
		if s == "True" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}
