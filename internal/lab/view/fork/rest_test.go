package fork

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

// stateAfter returns the state after events, each without its number and time.
func stateAfter(t *testing.T, events ...string) *trace.State {
	t.Helper()
	lines := `{"h":1,"schema":"orrery.trace/1","gears":"fast"}` + "\n"
	for _, event := range events {
		lines += `{"s":1,"t":1,` + event + "}\n"
	}
	state := trace.NewState()
	_, err := trace.Read(strings.NewReader(lines), func(e *trace.Event, broken *trace.LineError) error {
		require.Nil(t, broken)
		state.Apply(e)
		return nil
	})
	require.NoError(t, err)
	return state
}

const (
	known    = `"e":"indexer.added","i":"pods","k":"shop/a"`
	watching = `"e":"reflector.watchStarted","i":"pods"`
)

// Two runs that are at rest are compared in what settles, and in nothing else.
func TestWhatSettles(t *testing.T) {
	for name, c := range map[string]struct {
		fork, recorded []string
		want           string // ""; the same
	}{
		"an object":                {[]string{known}, nil, "store pods: +shop/a"},
		"a generated name":         {[]string{`"e":"indexer.added","i":"pods","k":"shop/web-bcd24"`}, []string{`"e":"indexer.added","i":"pods","k":"shop/web-fgh57"`}, ""},
		"how many generated ones":  {[]string{`"e":"indexer.added","i":"pods","k":"shop/web-bcd24"`}, nil, "store pods: +shop/web-*"},
		"a delta":                  {[]string{`"e":"deltafifo.queued","i":"pods","k":"shop/a","d":"U"`}, []string{`"e":"deltafifo.queued","i":"pods","k":"shop/a","d":"D"`}, "delta queue pods: +shop/a U −shop/a D"},
		"a key that waits":         {nil, []string{`"e":"queue.added","i":"work","k":"shop/a"`}, "work queue work: −shop/a"},
		"a key with a worker":      {[]string{`"e":"queue.added","i":"work","k":"shop/a"`, `"e":"queue.got","i":"work","k":"shop/a"`}, nil, "work queue work: +shop/a"},
		"a worker or the queue":    {[]string{`"e":"queue.added","i":"work","k":"shop/a"`, `"e":"queue.got","i":"work","k":"shop/a"`}, []string{`"e":"queue.added","i":"work","k":"shop/a"`}, ""},
		"a delayed key":            {[]string{known, `"e":"queue.delayed","i":"work","k":"shop/a","us":9`}, []string{known}, "work queue work: +shop/a"},
		"one whose object is gone": {[]string{`"e":"queue.delayed","i":"work","k":"shop/a","us":9`}, nil, ""},
		"a condition that is True": {[]string{`"e":"nsctl.conditionsUpdated","k":"shop","type":"Stuck","status":"True"`}, nil, "conditions shop: +Stuck"},
		"one that is False":        {[]string{`"e":"nsctl.conditionsUpdated","k":"shop","type":"Stuck","status":"False"`}, nil, ""},
		"a namespace that is gone": {[]string{`"e":"nsctl.conditionsUpdated","k":"shop","type":"Stuck","status":"True"`, `"e":"nsctl.gone","k":"shop"`}, nil, ""},
		"held items in any order":  {[]string{`"e":"lab.held","gate":"G5","k":"shop/a"`, `"e":"lab.held","gate":"G5","k":"shop/b"`}, []string{`"e":"lab.held","gate":"G5","k":"shop/b"`, `"e":"lab.held","gate":"G5","k":"shop/a"`}, ""},
		"a held item":              {[]string{`"e":"lab.held","gate":"G5","k":"shop/a"`}, nil, "gate G5: +shop/a"},
	} {
		differences := settle(stateAfter(t, c.fork...), false).differences(settle(stateAfter(t, c.recorded...), false))
		assert.Equal(t, c.want, strings.Join(differences, "; "), name)
	}
}

// A pipeline is at rest when no gear is busy, or when the gears wait for a held item.
func TestWhatIsAtRest(t *testing.T) {
	popped := []string{watching, `"e":"deltafifo.queued","i":"pods","k":"shop/a","d":"U"`, `"e":"deltafifo.popped","i":"pods","k":"shop/a","d":"U"`}
	for name, c := range map[string]struct {
		events      []string
		rest, blind bool
	}{
		"nothing":                   {rest: true},
		"a watch":                   {events: []string{watching, `"e":"restclient.requestStart","q":1,"verb":"watch"`}, rest: true},
		"a watch that has ended":    {events: []string{watching, `"e":"reflector.watchEnded","i":"pods"`}},
		"one that cannot come back": {events: []string{watching, `"e":"reflector.watchEnded","i":"pods"`}, blind: true, rest: true},
		"an informer that stopped":  {events: []string{`"e":"informer.stopped","i":"pods"`}, rest: true},
		"a delta":                   {events: popped[:2]},
		"a delta in flight":         {events: popped},
		"a delta that is processed": {events: append(popped, `"e":"deltafifo.processed","i":"pods","k":"shop/a"`), rest: true},
		"a key that waits":          {events: []string{`"e":"queue.added","i":"work","k":"shop/a"`}},
		"a pass":                    {events: []string{`"e":"queue.added","i":"work","k":"shop/a"`, `"e":"queue.got","i":"work","k":"shop/a"`}},
		"a delayed key":             {events: []string{`"e":"queue.delayed","i":"work","k":"shop/a","us":9`}, rest: true},
		"a request":                 {events: []string{`"e":"restclient.requestStart","q":1,"verb":"get"`}},
		"a pass that is held":       {events: []string{`"e":"queue.added","i":"work","k":"shop/a"`, `"e":"queue.got","i":"work","k":"shop/a"`, `"e":"lab.held","gate":"G5","k":"shop/a"`}, rest: true},
	} {
		assert.Equal(t, c.rest, atRest(stateAfter(t, c.events...), c.blind), name)
	}
}

// A recording is compared only at inputs before which it was at rest for a while. A watch that a
// fault keeps away is no unrest until its repair, nor is a handler that ends a call.
func TestWhereARecordingIsAtRest(t *testing.T) {
	r, err := Read(strings.NewReader(`{"h":1,"schema":"orrery.trace/1","mode":"lab","scene":"one-key","gears":"fast"}
{"s":1,"t":0,"e":"lab.input","name":"create-namespace"}
{"s":2,"t":1000,"e":"reflector.watchStarted","i":"pods"}
{"s":3,"t":2000000,"e":"lab.input","name":"fault","args":"forbid:verb=watch"}
{"s":4,"t":2100000,"e":"reflector.watchEnded","i":"pods"}
{"s":5,"t":4000000,"e":"lab.input","name":"repair","args":"forbid:verb=watch"}
{"s":6,"t":8000000,"e":"lab.input","name":"create-configmap","args":"red"}
{"s":7,"t":8100000,"e":"reflector.watchStarted","i":"pods"}
{"s":8,"t":8200000,"e":"lab.input","name":"create-configmap","args":"blue"}
{"s":9,"t":9000000,"e":"informer.handled","i":"pods","h":"slow#1","kind":"add"}
{"s":10,"t":9000100,"e":"lab.input","name":"delete-configmap","args":"red"}
{"s":11,"t":9050100,"e":"lab.input","name":"delete-configmap","args":"blue"}
{"s":12,"t":9060000,"e":"trace.end","reason":"over"}
`))
	require.NoError(t, err)
	rests := map[string]bool{}
	for _, input := range r.Inputs {
		rests[input.String()] = input.after.resting
	}
	assert.Equal(t, map[string]bool{
		"create-namespace": true, "fault forbid:verb=watch": true, "repair forbid:verb=watch": false, "create-configmap red": false,
		"create-configmap blue": true, "delete-configmap red": false, "delete-configmap blue": true,
	}, rests)
}
