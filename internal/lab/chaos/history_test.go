package chaos

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at is a state of the object x under its key.
func at(version uint64) State { return State{"x", version} }

// Every rule is broken by the shortest history that does.
func TestTheRulesOfAHistory(t *testing.T) {
	always := func(string, uint64) bool { return true }
	for name, c := range map[string]struct {
		selective bool
		tell      func(h *History)
		wrong     string // "" is nothing
	}{
		"a life": {false, func(h *History) {
			h.Added("k", at(1), true)
			h.Updated("k", at(1), at(2))
			h.Updated("k", at(2), at(2))
			h.Deleted("k", at(3), false)
			h.Added("k", State{"y", 4}, false)
			h.Updated("k", State{"y", 4}, State{"z", 7})
			h.Deleted("k", State{"z", 7}, true)
		}, ""},
		"added twice": {false, func(h *History) { h.Added("k", at(1), false); h.Added("k", at(1), false) },
			"added as"},
		"updated from nothing": {false, func(h *History) { h.Updated("k", at(1), at(2)) }, "nothing is there"},
		"a step is missing": {false, func(h *History) { h.Added("k", at(1), false); h.Updated("k", at(2), at(3)) },
			"the last state was"},
		"back in time": {false, func(h *History) { h.Added("k", at(2), false); h.Updated("k", at(2), at(1)) },
			"went back"},
		"deleted twice": {false, func(h *History) {
			h.Added("k", at(1), false)
			h.Deleted("k", at(2), false)
			h.Deleted("k", at(2), false)
		}, "nothing is there"},
		"another object deleted": {false, func(h *History) {
			h.Added("k", at(1), false)
			h.Deleted("k", State{"y", 2},
				false)
		}, "though x@1 is there"},
		"an old state deleted": {false, func(h *History) { h.Added("k", at(3), false); h.Deleted("k", at(2), false) },
			"though it was x@3"},
		"back from the dead": {false, func(h *History) {
			h.Added("k", at(1), false)
			h.Deleted("k", at(2),
				false)
			h.Added("k", at(1), false)
		}, "came back"},
		"replaced, and back": {false, func(h *History) {
			h.Added("k", at(1), false)
			h.Updated("k", at(1), State{"y", 2})
			h.Deleted("k", State{"y", 3}, false)
			h.Added("k", at(4), false)
		}, "came back"},
		"selected again": {true, func(h *History) {
			h.Added("k", at(1), false)
			h.Deleted("k", at(2),
				false)
			h.Added("k", at(3), false)
		}, ""},
		"selected again, as old": {true, func(h *History) {
			h.Added("k", at(1), false)
			h.Deleted("k", at(2),
				false)
			h.Added("k", at(1), false)
		}, "came back"},
	} {
		h := NewHistory("h", c.selective, always)
		c.tell(h)
		if c.wrong == "" {
			assert.Empty(t, h.Violations(), name)
		} else if wrong := h.Violations(); assert.NotEmpty(t, wrong, name) {
			assert.Contains(t, wrong[0], c.wrong, name)
		}
	}
}

func TestAStateThatNeverWas(t *testing.T) {
	known := false
	h := NewHistory("h", false, func(string, uint64) bool { return known })
	h.Added("k", at(1), false)
	known = true // the journal lagged behind
	assert.Empty(t, h.Violations())
	known = false
	h.Updated("k", at(1), at(2))
	require.Len(t, h.Violations(), 1)
	assert.Contains(t, h.Violations()[0], "which the server never had")
}

func TestTheEndOfAHistory(t *testing.T) {
	h := NewHistory("h", false, func(string, uint64) bool { return true })
	h.Added("a", at(1), false)
	h.Added("b", State{"y", 2}, false)
	assert.Empty(t, h.Differences(map[string]State{"a": at(1), "b": {"y", 2}}))
	wrong := h.Differences(map[string]State{"a": at(3), "c": {"z", 4}})
	require.Len(t, wrong, 3)
	assert.Contains(t, wrong[0], "a is x@3, and the last state was x@1")
	assert.Contains(t, wrong[1], "missed the addition of c")
	assert.Contains(t, wrong[2], "missed the deletion of b")
}

func TestCompareFindsEachDifference(t *testing.T) {
	have := map[string]State{"a": at(1), "b": {"y", 2}, "d": at(4)}
	assert.Empty(t, Compare(have, have))
	assert.Equal(t, []string{"a is x@1 and should be x@3", "b (y@2) is not on the server",
		"c is missing, which is z@4"},
		Compare(have, map[string]State{"a": at(3), "c": {"z", 4}, "d": at(4)}))
}
