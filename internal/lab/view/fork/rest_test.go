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
		"an object":                {[]string{known}, nil, "the store of pods has shop/a, not nothing"},
		"a generated name":         {[]string{`"e":"indexer.added","i":"pods","k":"shop/web-bcd24"`}, []string{`"e":"indexer.added","i":"pods","k":"shop/web-fgh57"`}, ""},
		"how many generated ones":  {[]string{`"e":"indexer.added","i":"pods","k":"shop/web-bcd24"`}, nil, "the store of pods has shop/web-*, not nothing"},
		"a delta":                  {[]string{`"e":"deltafifo.queued","i":"pods","k":"shop/a","d":"U"`}, []string{`"e":"deltafifo.queued","i":"pods","k":"shop/a","d":"D"`}, "the delta queue of pods has shop/a U, not shop/a D"},
		"a key that waits":         {nil, []string{`"e":"queue.added","i":"work","k":"shop/a"`}, "the work queue of work has nothing, not shop/a"},
		"a key with a worker":      {[]string{`"e":"queue.added","i":"work","k":"shop/a"`, `"e":"queue.got","i":"work","k":"shop/a"`}, nil, "the work queue of work has shop/a, not nothing"},
		"a worker or the queue":    {[]string{`"e":"queue.added","i":"work","k":"shop/a"`, `"e":"queue.got","i":"work","k":"shop/a"`}, []string{`"e":"queue.added","i":"work","k":"shop/a"`}, ""},
		"a delayed key":            {[]string{known, `"e":"queue.delayed","i":"work","k":"shop/a","us":9`}, []string{known}, "the work queue of work has shop/a, not nothing"},
		"one whose object is gone": {[]string{`"e":"queue.delayed","i":"work","k":"shop/a","us":9`}, nil, ""},
		"a condition that is True": {[]string{`"e":"nsctl.conditionsUpdated","k":"shop","type":"Stuck","status":"True"`}, nil, "the conditions of shop has Stuck, not nothing"},
		"one that is False":        {[]string{`"e":"nsctl.conditionsUpdated","k":"shop","type":"Stuck","status":"False"`}, nil, ""},
		"a namespace that is gone": {[]string{`"e":"nsctl.conditionsUpdated","k":"shop","type":"Stuck","status":"True"`, `"e":"nsctl.gone","k":"shop"`}, nil, ""},
		"a held item":              {[]string{`"e":"lab.held","gate":"G5","k":"shop/a"`}, nil, "the gate G5 has shop/a, not nothing"},
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
