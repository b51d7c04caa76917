package main

import (
	"errors"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsMeasuredAndWritten(t *testing.T) {
	for name, c := range map[string]struct {
		arguments    []string
		json, page   string
		rounds       int
		measuresLike string
	}{
		"everything":  {nil, "build/bench.json", "docs/measure", 5, "queue/cycle ns/op against controller-runtime"},
		"elsewhere":   {[]string{"-json", "x.json", "-rounds", "9"}, "x.json", "docs/measure", 9, "queue/cycle ns/op"},
		"a part":      {[]string{"-only", "store"}, "", "", 5, "store/update ns/op"},
		"a part kept": {[]string{"-only", "store", "-json", "x.json"}, "x.json", "", 5, "store/update ns/op"},
		"the guard":   {[]string{"-quick"}, "", "", 1, "queue/cycle allocs/op"},
	} {
		var o options
		require.NoError(t, o.parse(c.arguments))
		assert.Equal(t, c.json, o.jsonFile, name)
		assert.Equal(t, c.page, o.page, name)
		assert.Equal(t, c.rounds, o.rounds, name)
		measures, err := o.measures()
		require.NoError(t, err)
		var names []string
		for _, m := range measures {
			names = append(names, m.Name)
			assert.True(t, m.Quick && m.Textbook == "" || !o.quick, m.Name)
		}
		assert.Contains(t, names, c.measuresLike, name)
	}
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	for want, arguments := range map[string][]string{
		`"queue" is not a flag; did you mean -only queue,fifo?`: {"queue", "fifo"},
		"flag provided but not defined: -rouns":                 {"-rouns", "1"},
		"-rounds -1: at least one is needed":                    {"-rounds", "-1"},
	} {
		assert.EqualError(t, new(options).parse(arguments), want)
	}
	assert.True(t, errors.Is(new(options).parse([]string{"-help"}), flag.ErrHelp))
}
