package main

import (
	"errors"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

func parsed(t *testing.T, arguments ...string) options {
	t.Helper()
	o, err := parse(append([]string{"bench"}, arguments...))
	require.NoError(t, err)
	return o
}

func TestWhatIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		arguments    []string
		json, page   string
		rounds       int
		effort       bench.Effort
		measuresLike string
	}{
		"everything": {nil, "build/bench.json", "docs/measure", 5, bench.Full, "queue/cycle ns/op"},
		"elsewhere": {
			[]string{"-json", "x.json", "-rounds", "9"}, "x.json", "docs/measure", 9, bench.Full, "dispatch/4 ns/event",
		},
		"a part":      {[]string{"-only", "store"}, "", "", 5, bench.Full, "store/update ns/op"},
		"a part kept": {[]string{"-only", "store", "-json", "x.json"}, "x.json", "", 5, bench.Full, "store/update ns/op"},
		"the guard":   {[]string{"-quick"}, "", "", 1, bench.Quick, "queue/cycle allocs/op"},
	} {
		o := parsed(t, c.arguments...)
		assert.Equal(t, c.json, o.jsonFile, name)
		assert.Equal(t, c.page, o.page, name)
		assert.Equal(t, c.rounds, o.rounds, name)
		assert.Equal(t, c.effort, o.effort(), name)
		measures, err := o.measures()
		require.NoError(t, err)
		var names []string
		for _, m := range measures {
			names = append(names, m.Name)
		}
		assert.Contains(t, names, c.measuresLike, name)
	}
}

func TestWhichMeasures(t *testing.T) {
	for _, quick := range []bool{false, true} {
		o := options{quick: quick}
		measures, err := o.measures()
		require.NoError(t, err)
		found := false
		for _, m := range measures {
			found = found || m.Kind == None
			assert.True(t, m.Quick || !quick, m.Name)
			assert.True(t, m.Textbook == "" || !quick, m.Name)
		}
		assert.NotEqual(t, quick, found, "measures without a target")
	}
	o := options{only: "no/such"}
	_, err := o.measures()
	assert.EqualError(t, err, `there is no measure "no/such"; -list names them all`)
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"queue", "fifo"}, `"queue" is not a flag; did you mean -only queue,fifo?`},
		{[]string{"-rouns", "1"}, "flag provided but not defined: -rouns; see bench -help"},
		{[]string{"-rounds", "-1"}, "-rounds -1: at least one is needed"},
	} {
		_, err := parse(append([]string{"bench"}, c.arguments...))
		assert.EqualError(t, err, c.want)
	}
	_, err := parse([]string{"bench", "-help"})
	assert.True(t, errors.Is(err, flag.ErrHelp))
}
