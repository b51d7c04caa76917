package chaos

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// at is a state of the object x under its key.
func at(version uint64) state { return state{"x", version} }

// Every rule of a history, with the least that breaks it.
func TestTheRulesOfAHistory(t *testing.T) {
	always := func(string, uint64) bool { return true }
	for name, c := range map[string]struct {
		selective bool
		tell      func(h *history)
		wrong     string // "" is nothing
	}{
		"a life": {false, func(h *history) {
			h.added("k", at(1), true)
			h.updated("k", at(1), at(2))
			h.updated("k", at(2), at(2))
			h.deleted("k", at(3), false)
			h.added("k", state{"y", 4}, false)
			h.updated("k", state{"y", 4}, state{"z", 7})
			h.deleted("k", state{"z", 7}, true)
		}, ""},
		"added twice":          {false, func(h *history) { h.added("k", at(1), false); h.added("k", at(1), false) }, "added as"},
		"updated from nothing": {false, func(h *history) { h.updated("k", at(1), at(2)) }, "nothing is there"},
		"a step is missing":    {false, func(h *history) { h.added("k", at(1), false); h.updated("k", at(2), at(3)) }, "the last it was told of"},
		"back in time":         {false, func(h *history) { h.added("k", at(2), false); h.updated("k", at(2), at(1)) }, "went back"},
		"deleted twice": {false, func(h *history) {
			h.added("k", at(1), false)
			h.deleted("k", at(2), false)
			h.deleted("k", at(2), false)
		}, "nothing is there"},
		"somebody else deleted": {false, func(h *history) { h.added("k", at(1), false); h.deleted("k", state{"y", 2}, false) }, "though x@1 is there"},
		"an old state deleted":  {false, func(h *history) { h.added("k", at(3), false); h.deleted("k", at(2), false) }, "though it was x@3"},
		"back from the dead":    {false, func(h *history) { h.added("k", at(1), false); h.deleted("k", at(2), false); h.added("k", at(1), false) }, "came back"},
		"replaced, and back": {false, func(h *history) {
			h.added("k", at(1), false)
			h.updated("k", at(1), state{"y", 2})
			h.deleted("k", state{"y", 3}, false)
			h.added("k", at(4), false)
		}, "came back"},
		"selected again":         {true, func(h *history) { h.added("k", at(1), false); h.deleted("k", at(2), false); h.added("k", at(3), false) }, ""},
		"selected again, as old": {true, func(h *history) { h.added("k", at(1), false); h.deleted("k", at(2), false); h.added("k", at(1), false) }, "came back"},
	} {
		h := newHistory("h", c.selective, always)
		c.tell(h)
		if c.wrong == "" {
			assert.Empty(t, h.violations(), name)
		} else if wrong := h.violations(); assert.NotEmpty(t, wrong, name) {
			assert.Contains(t, wrong[0], c.wrong, name)
		}
	}
}

func TestAStateThatNeverWas(t *testing.T) {
	known := false
	h := newHistory("h", false, func(string, uint64) bool { return known })
	h.added("k", at(1), false)
	known = true // the journal was a moment behind
	assert.Empty(t, h.violations())
	known = false
	h.updated("k", at(1), at(2))
	require.Len(t, h.violations(), 1)
	assert.Contains(t, h.violations()[0], "which the server never had")
}

func TestTheEndOfAHistory(t *testing.T) {
	h := newHistory("h", false, func(string, uint64) bool { return true })
	h.added("a", at(1), false)
	h.added("b", state{"y", 2}, false)
	assert.Empty(t, h.differences(map[string]state{"a": at(1), "b": {"y", 2}}))
	wrong := h.differences(map[string]state{"a": at(3), "c": {"z", 4}})
	require.Len(t, wrong, 3)
	assert.Contains(t, wrong[0], "a is x@3 and it was told x@1 last")
	assert.Contains(t, wrong[1], "was not told of c")
	assert.Contains(t, wrong[2], "was not told that b is gone")
}

// A store that has the right versions and wrong content is found as well.
func TestFieldsAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld(calm(), sabotage{})
		require.NoError(t, err)
		defer w.stopServer()
		w.perform(Step{What: Put, On: "configmaps/n0/a", N: 7})
		server, err := w.registry().Get(w.target("configmaps", "n0", "a"), api.GetOptions{})
		require.NoError(t, err)

		document := server.Decode()
		assert.Empty(t, differs(server, document))
		head := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Labels: map[string]string{"value": "7"}}}
		assert.Empty(t, differs(server, head))
		head.Labels["value"] = "8"
		assert.Contains(t, differs(server, head), "labels")
		require.NoError(t, document.SetNested("x", "data", "k"))
		assert.Contains(t, differs(server, document), "should be")

		space, err := w.registry().Get(w.target("namespaces", "", "n0"), api.GetOptions{})
		require.NoError(t, err)
		typed := &api.Namespace{ObjectMeta: api.ObjectMeta{Labels: space.Labels}, Status: api.NamespaceStatus{Phase: api.NamespaceActive}}
		assert.Empty(t, differs(space, typed))
		typed.Status.Phase = api.NamespaceTerminating
		assert.Contains(t, differs(space, typed), "phase")
	})
}
