package garbagecollector_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

func TestBackground(t *testing.T) {
	inWorld(t, func(w *world) {
		owner := w.create("owner")
		child := w.create("child", owned("owner", owner))
		w.create("grandchild", owned("child", child))
		w.create("stranger")
		assert.Len(t, w.names(), 4)
		w.delete("owner", api.DeletePropagationBackground)
		assert.Equal(t, []string{"stranger"}, w.names())
		assert.ElementsMatch(t, []string{"child deleted (Background)", "grandchild deleted (Background)"}, w.hear())
	})
}

func TestForegroundWaitsForThoseThatBlock(t *testing.T) {
	inWorld(t, func(w *world) {
		owner := w.create("owner")
		child := w.create("child", owned("owner", owner))
		w.create("grandchild", owned("child", child))
		w.create("loose", owned("-owner", owner))
		w.merge("grandchild", `{"finalizers":["example.com/hold"]}`)
		w.merge("loose", `{"finalizers":["example.com/hold"]}`)
		w.delete("owner", api.DeletePropagationForeground)
		assert.Equal(t, []string{"child", "grandchild", "loose", "owner"}, w.names())
		assert.Equal(t, []string{"foregroundDeletion"}, w.get("child").GetFinalizers())
		assert.NotNil(t, w.get("loose").GetDeletionTimestamp())
		w.merge("grandchild", `{"finalizers":null}`)
		assert.Equal(t, []string{"loose"}, w.names(), "the owner does not wait for a dependent that does not block")
		w.merge("loose", `{"finalizers":null}`)
		assert.Empty(t, w.names())
	})
}

func TestOrphan(t *testing.T) {
	inWorld(t, func(w *world) {
		owner, other := w.create("owner"), w.create("other")
		w.create("child", owned("owner", owner), owned("other", other))
		w.create("only-child", owned("owner", owner))
		w.delete("owner", api.DeletePropagationOrphan)
		assert.Equal(t, []string{"child", "only-child", "other"}, w.names())
		assert.Len(t, w.get("child").Nested("metadata", "ownerReferences"), 1)
		assert.Nil(t, w.get("only-child").Nested("metadata", "ownerReferences"))
	})
}

func TestAnObjectStaysAsLongAsOneOwnerExists(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.create("a"), w.create("b")
		w.create("child", owned("a", a), owned("b", b))
		w.delete("a", api.DeletePropagationBackground)
		assert.Equal(t, []string{"b", "child"}, w.names())
		assert.Equal(t, []string{"child released from owners"}, w.hear())
		references := fmt.Sprint(w.get("child").Nested("metadata", "ownerReferences"))
		assert.Contains(t, references, b)
		assert.NotContains(t, references, a)
		w.delete("b", api.DeletePropagationForeground)
		assert.Empty(t, w.names())
	})
}
