package trace_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

const headerLine = `{"h":1,"schema":"orrery.trace/1","start":"2026-05-04T10:02:11Z","clock":"real","gears":"fast"}` + "\n"

func TestBadRecordings(t *testing.T) {
	for text, want := range map[string]string{
		"":           "not a recording: it is empty",
		"hello\nx\n": `not a recording: line 1 is "hello"`,
		`{"h":1,"schema":"orrery.trace/x"}` + "\n":                "its schema is",
		`{"h":2,"schema":"orrery.trace/2","build":"v9.9"}` + "\n": "use version v9.9 or a later one",
	} {
		_, err := trace.Check(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}

	event := `{"s":1,"t":5,"e":"queue.added","i":"q","k":"a"}` + "\n"
	for text, want := range map[string][]string{
		event: nil,
		event + "{\n" + `{"s":3,"t":6,"e":"queue.forgotten","i":"q","k":"a"}` + "\n": {"line 3: unexpected end of JSON input"},
		event + `{"s":3,"t":6,"e":"queue.forgotten"}` + "\n":                         {"event 3 follows event 1"},
		event + `{"s":2,"t":4,"e":"queue.forgotten"}` + "\n":                         {"event 2: the time goes back from 5 to 4"},
		event + `{"s":2,"t":5,"e":"queue.forgotten","c":[2]}` + "\n":                 {"event 2: its cause 2 is not an earlier event"},
		event + `{"t":5}` + "\n":                                                     {"line 3: s or e is missing"},
	} {
		report, err := trace.Check(strings.NewReader(headerLine + text))
		require.NoError(t, err)
		assert.Equal(t, want, report.Problems)
	}

	report, err := trace.Check(strings.NewReader(headerLine + event + `{"s":2,"t":`))
	require.NoError(t, err)
	assert.True(t, report.Cut)
	assert.Zero(t, report.Found)

	report, err = trace.Check(strings.NewReader(headerLine + `{"s":1,"t":5,"e":"queue.invented"}` + "\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]uint64{"queue.invented": 1}, report.Unknown)
}

// Any bytes are read without a panic, and any events are folded.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(headerLine + `{"s":1,"t":5,"e":"deltafifo.popped","i":"q","k":"a","d":"A†","m":-4}` + "\n"))
	f.Add([]byte(headerLine + `{"s":1,"t":5,"e":"queue.done","k":"a"}` + "\n" + `{"s":2,"t":5,"e":"trace.state","state":{}}` + "\n" + `{"s":3,"t":5,"e":"queue.got","k":"a"}` + "\n"))
	f.Add([]byte(headerLine + `{"s":1,"t":5,"e":"trace.state","state":{"queues":{"":null},"informers":{"":{}}}}` + "\n" + `{"s":2,"t":5,"e":"queue.got","k":"a"}` + "\n" + `{"s":3,"t":5,"e":"indexer.added","k":"a"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := trace.Check(bytes.NewReader(text))
		if err == nil {
			report.State.Clone()
		}
	})
}
