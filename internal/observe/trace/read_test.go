package trace_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
)

const headerLine = `{"h":1,"schema":"orrery.trace/2","start":"2026-05-04T10:02:11Z",` +
	`"clock":"real","gears":"fast"}` + "\n" + `{"s":0,"t":0,"state":{"queues":{}}}` + "\n"

func TestBadRecordings(t *testing.T) {
	const (
		event = `{"s":1,"t":5,"e":"queue.added","i":"q","k":"a","diff":{"queues":{"q":{"added":1,"total":1}}}}` + "\n"
		first = headerLine + event
		state = first + `{"s":1,"t":5,"state":{"s":1,"t":5,"queues":{"q":{"added":`
	)
	header, _, _ := strings.Cut(headerLine, "\n")
	for text, want := range map[string]string{
		"":           "not a recording: it is empty",
		"hello\nx\n": `not a recording: line 1 is "hello"`,
		`{"h":1,"schema":"orrery.trace/x"}` + "\n":                "its schema is",
		`{"h":2,"schema":"orrery.trace/3","build":"v9.9"}` + "\n": "use version v9.9 or a later one",
		`{"h":1,"schema":"orrery.trace/1","build":"v0.9"}` + "\n": "this program reads only orrery.trace/2: " +
			"record the run again",
		first: "",
		first + `{"s":3,"t":6,"e":"queue.forgotten"}`:          "event 3 follows event 1",
		first + `{"s":2,"t":4,"e":"queue.forgotten"}`:          "event 2: the time goes back from 5 to 4",
		first + `{"s":2,"t":5,"e":"queue.forgotten","diff":5}`: "event 2: its state or difference is no object",
		first + `{"t":5}`:         "line 4: s or e is missing",
		state + `1,"total":1}}}}`: "",
		state + `2,"total":1}}}}`: "event 1: the state is not that of the events before it",
		first + "{\n":             "line 4: unexpected end of JSON input",
		first + `{"s":2,"t":`:     "line 4: unexpected end of JSON input",
		header + "\n" + event:     "no state is before event 1",
		first + `{"s":2,"t":6,"e":"queue.added","diff":{"queues":{"q":null}}}
			{"s":2,"t":6,"state":{"s":2,"t":6,"queues":{}}}`: "",
	} {
		_, _, err := tracetest.Read(strings.NewReader(text))
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
}

// Any bytes are read without a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(headerLine + `{"s":1,"t":5,"e":"queue.done","k":"a","diff":{"queues":{"q":5}}}` + "\n"))
	f.Add([]byte(headerLine + `{"s":1,"t":5,"e":"queue.done","k":"a"}` + "\n" + `{"s":1,"t":5,"state":null}` + "\n"))
	f.Add([]byte(headerLine + `{"s":1,"t":5,"state":{"queues":{"":null}}}` + "\n" +
		`{"s":2,"t":5,"e":"queue.got","diff":{"queues":{"":{"a":null}}}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, last, err := tracetest.Read(bytes.NewReader(text)); err == nil {
			last.Clone()
		}
	})
}

// linesOf returns everything that a history has.
func linesOf(t *testing.T, history *trace.History) string {
	t.Helper()
	var text strings.Builder
	cursor := history.Cursor(1 << 40)
	for {
		lines, err := cursor.Next(context.Background())
		if err == io.EOF {
			return text.String()
		}
		require.NoError(t, err)
		text.Write(lines)
	}
}

const (
	relayed = `{"h":1,"schema":"orrery.trace/2","start":"2026-05-04T10:02:11Z","clock":"real",` +
		`"run":"orrery run","mode":"cluster","gears":"textbook","workers":5}` + "\n" +
		`{"s":0,"t":0,"state":{}}` + "\n" + `{"s":1,"t":5,"e":"queue.added","i":"q","k":"a"}` + "\n"
	later    = relayed + `{"s":3,"t":9,"state":{"s":3,"t":9}}` + "\n"
	finished = `{"s":2,"t":9,"e":"trace.end","reason":"the process has stopped"}` + "\n"
	mine     = `"e":"trace.end","reason":"panic: mine"`
)

func before(text, end string) string {
	text, _, _ = strings.Cut(text, end)
	return text
}

// A page sees what the other process says, and why it ended as the reader of its output knows it.
func TestARelayPassesOn(t *testing.T) {
	own := trace.Header{Run: "lab run", Mode: "lab", Gears: "textbook", Yours: []string{"queue/queue.go"}}
	for name, c := range map[string]struct{ lines, reason, want string }{
		"the process says why":      {relayed + finished, "", before(finished, "}")},
		"its output says more":      {relayed + finished, "panic: mine", `{"s":2,"t":9,` + mine},
		"it was killed":             {relayed + `{"s":2,"t":9,"e":"que`, "panic: mine", `{"s":2,"t":5,` + mine},
		"it said nothing":           {"", "panic: at once", `{"s":1,"t":0,"e":"trace.end","reason":"panic: at once"`},
		"what it said is no trace":  {"hello\n", "panic: mine", `{"s":1,"t":0,` + mine},
		"it began before the relay": {later, "", `{"s":4,"t":9,"e":"trace.end"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := trace.NewRelay(own)
			began := 0
			_ = r.Follow(strings.NewReader(c.lines), func() { began++ })
			r.End(c.reason)
			lines := strings.Split(strings.TrimSpace(linesOf(t, r.History())), "\n")
			assert.Equal(t, c.want, before(lines[len(lines)-1], `,"diff"`))
			header := r.Header()
			assert.Equal(t, []any{"lab run", "lab", "textbook", own.Yours, "orrery.trace/2"},
				[]any{header.Run, header.Mode, header.Gears, header.Yours, header.Schema})
			if !strings.HasPrefix(c.lines, relayed) {
				assert.Zero(t, began)
				return
			}
			assert.Equal(t, 1, began)
			assert.Equal(t, 5, header.Workers, "the other process knows it")
			assert.Equal(t, `{"s":1,"t":5,"e":"queue.added","i":"q","k":"a"}`, lines[2],
				"behind the states of the relay and of the process")
		})
	}
}

// A recording takes the place of an older recording, and of nothing else.
func TestRecordSparesOtherFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.jsonl")
	options := trace.Options{File: name, Limit: 1}
	assert.NoError(t, options.Check(), "there is no file")
	for content, spared := range map[string]bool{
		"": false, `{"h":1,"schema":"orrery.trace/2"}` + "\n": false, "\x1f\x8b\x08": false,
		"hello": true, "{}": true, `{"host":1}`: true,
	} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		err := options.Check()
		if spared {
			assert.EqualError(t, err,
				"--record: the file "+name+" exists, and is not a recording: choose another name, or remove it")
		} else {
			assert.NoError(t, err, "%q", content)
		}
	}
	options.File = os.DevNull
	assert.NoError(t, options.Check())
}

// A recording has the names of objects: only its owner can read it, whatever was there before.
func TestARecordingIsItsOwnersAlone(t *testing.T) {
	for _, before := range []os.FileMode{0, 0o644} {
		name := filepath.Join(t.TempDir(), "run.jsonl")
		options := trace.Options{File: name, Limit: 1}
		if before != 0 {
			require.NoError(t, os.WriteFile(name, nil, before))
			require.NoError(t, os.Chmod(name, before))
		}
		recorder, err := trace.Start(options.Config(trace.Header{Run: "test"}))
		require.NoError(t, err)
		recorder.Stop("over")
		require.NoError(t, options.Check(), "another run may follow")
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())
	}
}
