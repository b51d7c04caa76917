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
	type told = func(*History)
	add := func(is State) told { return func(h *History) { h.Added("k", is, false) } }
	update := func(was, is State) told { return func(h *History) { h.Updated("k", was, is) } }
	remove := func(last State) told { return func(h *History) { h.Deleted("k", last, false) } }
	y := func(version uint64) State { return State{"y", version} }
	for name, c := range map[string]struct {
		wrong     string // "" is nothing
		selective bool
		events    []told
	}{
		"a life": {"", false, []told{add(at(1)), update(at(1), at(2)), update(at(2), at(2)), remove(at(3)),
			add(y(4)), update(y(4), State{"z", 7}), remove(State{"z", 7})}},
		"added twice":            {"added as", false, []told{add(at(1)), add(at(1))}},
		"updated from nothing":   {"nothing is there", false, []told{update(at(1), at(2))}},
		"a step is missing":      {"the last state was", false, []told{add(at(1)), update(at(2), at(3))}},
		"back in time":           {"went back", false, []told{add(at(2)), update(at(2), at(1))}},
		"deleted twice":          {"nothing is there", false, []told{add(at(1)), remove(at(2)), remove(at(2))}},
		"another object deleted": {"though x@1 is there", false, []told{add(at(1)), remove(y(2))}},
		"an old state deleted":   {"though it was x@3", false, []told{add(at(3)), remove(at(2))}},
		"back from the dead":     {"came back", false, []told{add(at(1)), remove(at(2)), add(at(1))}},
		"replaced, and back": {"came back", false,
			[]told{add(at(1)), update(at(1), y(2)), remove(y(3)), add(at(4))}},
		"selected again":         {"", true, []told{add(at(1)), remove(at(2)), add(at(3))}},
		"selected again, as old": {"came back", true, []told{add(at(1)), remove(at(2)), add(at(1))}},
	} {
		h := NewHistory("h", c.selective, func(string, uint64) bool { return true })
		for _, tell := range c.events {
			tell(h)
		}
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
