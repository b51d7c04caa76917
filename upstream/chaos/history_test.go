package chaos

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func add(new identity) told         { return told{kind: "add", key: "k", new: new} }
func update(old, new identity) told { return told{kind: "update", key: "k", old: old, new: new} }
func remove(old identity) told      { return told{kind: "delete", key: "k", old: old} }
func conclude(old identity) told    { return told{kind: "delete", key: "k", old: old, unknown: true} }

var (
	a1, a2, a3 = identity{"a", "1"}, identity{"a", "2"}, identity{"a", "3"}
	b4, b5     = identity{"b", "4"}, identity{"b", "5"}
)

func TestHistoriesThatMakeSense(t *testing.T) {
	for name, events := range map[string][]told{
		"nothing":                             nil,
		"a life":                              {add(a1), update(a1, a2), remove(a3)},
		"a successor":                         {add(a1), remove(a2), add(b4)},
		"a deletion that nobody saw":          {add(a1), conclude(a1), add(b4)},
		"deletion and creation in one gap":    {add(a1), update(a1, b4), update(b4, b5)},
		"a reminder":                          {add(a1), update(a1, a1)},
		"states that were skipped (and last)": {add(a1), update(a1, a3), remove(a3)},
	} {
		h := newHistory()
		for _, e := range events {
			h.hear(e)
		}
		assert.Empty(t, h.faults(), name)
	}
}

func TestHistoriesThatMakeNoSense(t *testing.T) {
	for name, c := range map[string]struct {
		events []told
		want   string
	}{
		"twice":                   {[]told{add(a1), add(a1)}, "is added though it is known"},
		"an update of nothing":    {[]told{update(a1, a2)}, "is not known"},
		"a deletion of nothing":   {[]told{remove(a1)}, "is not known"},
		"two deletions":           {[]told{add(a1), remove(a2), remove(a2)}, "is not known"},
		"from another state":      {[]told{add(a1), update(a2, a3)}, "a state that was not told last"},
		"back in time":            {[]told{add(a2), update(a2, a1)}, "is older than what was told before"},
		"back from the dead":      {[]told{add(a1), remove(a2), add(a3)}, "is told of after its deletion"},
		"back after a gap":        {[]told{add(a1), update(a1, b4), remove(b5), add(a3)}, "is told of after its deletion"},
		"the end of another one":  {[]told{add(a1), remove(b4)}, "another one that was told"},
		"a version of no meaning": {[]told{add(identity{"a", "x"})}, "no number"},
	} {
		h := newHistory()
		for _, e := range c.events {
			h.hear(e)
		}
		require.Len(t, h.faults(), 1, name)
		assert.Contains(t, h.faults()[0], c.want, name)
		assert.Contains(t, h.faults()[0], "k ", "it says of which object: %s", name)
	}
}

func TestCallbacksAtTheSameTime(t *testing.T) {
	h := newHistory()
	h.enter()
	h.leave()
	h.enter()
	assert.Empty(t, h.faults())
	h.enter()
	assert.Len(t, h.faults(), 1)
}

func TestCompareFindsEachDifference(t *testing.T) {
	h := newHistory()
	h.hear(add(a1))
	assert.Empty(t, h.compare(map[string]identity{"k": a1}))
	assert.Equal(t, []string{"k is a@1, the server has a@2"}, h.compare(map[string]identity{"k": a2}))
	assert.Equal(t, []string{"k is a@1, the server has b@4"}, h.compare(map[string]identity{"k": b4}))
	assert.Equal(t, []string{"k is a@1, the server does not have it"}, h.compare(nil), "a deletion was lost")
	assert.Equal(t, []string{"l is missing, the server has b@4"}, h.compare(map[string]identity{"k": a1, "l": b4}))
	h.hear(conclude(a1))
	assert.Empty(t, h.compare(nil), "a tombstone is a deletion")
}

func TestReportsAreBounded(t *testing.T) {
	h := newHistory()
	want := map[string]identity{}
	for i := range 1000 {
		h.hear(remove(a1))
		want[strings.Repeat("x", i+1)] = a1
	}
	assert.LessOrEqual(t, len(h.faults()), mostViolations)
	assert.LessOrEqual(t, len(h.compare(want)), mostViolations+1)
}
