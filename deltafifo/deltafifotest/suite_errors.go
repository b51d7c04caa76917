package deltafifotest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var errTransform = errors.New("cannot make sense of it")

// nameless stands for the key of an object without one.
const nameless = "an object without a key"

// refusing returns a rig whose Transform refuses version 666, and whose consumer holds these
// objects. The keys that Config.Refused was called with go to refused, and so does the number of
// items that the hook Replaced reports.
func refusing(t *testing.T, impl Implementation, known ...*Object) (r *rig, refused *[]string) {
	refused = new([]string)
	consumer := NewConsumer(known...)
	queue := impl.New(deltafifo.Config[*Object]{
		KeyFunc:      KeyFunc,
		KnownObjects: consumer,
		Transform: func(o *Object) (*Object, error) {
			if o.Version == 666 {
				return nil, errTransform
			}
			return o, nil
		},
		Refused: func(key string, err error) {
			if _, isKeyError := errors.AsType[*deltafifo.KeyError](err); isKeyError {
				key = nameless
			} else {
				assert.ErrorIs(t, err, errTransform)
			}
			*refused = append(*refused, key)
		},
		Trace: &deltafifo.Trace[*Object]{Replaced: func(_ string, items, _, _ int) {
			*refused = append(*refused, fmt.Sprintf("%d items were listed", items))
		}},
	})
	return newRigOf(t, impl, consumer, queue), refused
}

// stamped returns a queue whose Transform adds 1000 to the version. The map counts the calls per
// object.
func stamped(impl Implementation, known ...*Object) (Queue, *Consumer, map[string]int) {
	seen := map[string]int{}
	consumer := NewConsumer(known...)
	queue := impl.New(deltafifo.Config[*Object]{
		KeyFunc:      KeyFunc,
		KnownObjects: consumer,
		Transform: func(o *Object) (*Object, error) {
			seen[o.String()]++
			return Obj(o.Name, o.Version+1000), nil
		},
	})
	return queue, consumer, seen
}

var errorTests = append([]behaviour{
	{"AnObjectWithoutAKeyIsRefused", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":    func(q Queue) error { return q.Add(Obj("", 1)) },
			"Update": func(q Queue) error { return q.Update(Obj("", 1)) },
			"Delete": func(q Queue) error { return q.Delete(Obj("", 1)) },
		} {
			r, refused := refusing(t, impl)
			err := call(r.queue)
			keyError, ok := errors.AsType[*deltafifo.KeyError](err)
			require.True(t, ok, "%s: %v", name, err)
			assert.Equal(t, Obj("", 1), keyError.Obj, name)
			assert.ErrorIs(t, err, ErrNameless, name)
			r.expect()
			if impl.has(SkipsRefused) {
				assert.Equal(t, []string{nameless}, *refused, "%s: the calls of Config.Refused", name)
			}
		}
	}},
	{"AListedObjectThatIsRefusedCostsOnlyItself", func(t *testing.T, impl Implementation) {
		for bad, key := range map[*Object]string{Obj("", 1): nameless, Obj("bad", 666): "bad"} {
			r, refused := refusing(t, impl, Obj("gone", 1))
			err := r.queue.Replace([]*Object{Obj("a", 1), bad, Obj("b", 1)}, "1")
			assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
			if !impl.has(SkipsRefused) {
				require.Error(t, err)
				r.expect("a: Replaced a@1") // and neither b nor the tombstone of gone
				continue
			}
			require.NoError(t, err)
			r.expect("a: Replaced a@1", "b: Replaced b@1", "gone: Deleted gone@1 (inferred)")
			assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
			assert.Equal(t, []string{key, "2 items were listed"}, *refused,
				"the calls of Config.Refused and of Replaced")
		}
	}},
	{"AListOfRefusedObjectsIsAList", func(t *testing.T, impl Implementation) {
		r, refused := refusing(t, impl)
		err := r.queue.Replace([]*Object{Obj("", 1), Obj("bad", 666)}, "1")
		if !impl.has(SkipsRefused) {
			require.Error(t, err)
			r.replace(Obj("a", 1))
			assert.False(t, r.queue.HasSynced(), "the next list is the first one")
			return
		}
		require.NoError(t, err)
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false: nothing of the list has to be processed")
		want := []string{nameless, "bad", "0 items were listed"}
		assert.Equal(t, want, *refused, "the calls of Config.Refused and of Replaced")
		r.expect()
	}},
	{"ADeletionNeedsOnlyItsKey", func(t *testing.T, impl Implementation) {
		r, refused := refusing(t, impl, Obj("known", 1), Obj("changed", 1))
		r.play("add waiting@1; update changed@2")
		if !impl.has(SkipsRefused) {
			require.Error(t, r.queue.Delete(Obj("known", 666)))
			r.expect("waiting: Added waiting@1", "changed: Updated changed@2")
			return
		}
		for _, name := range []string{"known", "changed", "waiting", "unknown"} {
			r.delete(name, 666)
		}
		r.expect("waiting: Added waiting@1, Deleted waiting@1 (inferred)",
			"changed: Updated changed@2, Deleted changed@2 (inferred)",
			"known: Deleted known@1 (inferred)")
		assert.Empty(t, r.consumer.Objects())
		assert.Equal(t, []string{"known", "changed", "waiting", "unknown"}, *refused, "the calls of Config.Refused")
	}},
	{"EachObjectIsTransformedOnce", func(t *testing.T, impl Implementation) {
		q, c, seen := stamped(impl, Obj("d", 1))
		require.NoError(t, q.Add(Obj("a", 1)))
		require.NoError(t, q.Update(Obj("a", 2)))
		require.NoError(t, q.Delete(Obj("a", 3)))
		require.NoError(t, q.Replace([]*Object{Obj("b", 1), Obj("c", 1), Obj("d", 2)}, "1"))
		r := newRigOf(t, impl, c, q)
		r.expect("a: Added a@1001, Updated a@1002, Deleted a@1003", "b: Replaced b@1001", "c: Replaced c@1001",
			"d: Replaced d@1002")
		assert.Equal(t, map[string]int{"a@1": 1, "a@2": 1, "a@3": 1, "b@1": 1, "c@1": 1, "d@2": 1}, seen)
	}},
	{"TombstonesAreNotTransformed", func(t *testing.T, impl Implementation) {
		q, c, seen := stamped(impl, Obj("known", 1001))
		require.NoError(t, q.Add(Obj("waiting", 1)))
		require.NoError(t, q.Replace(nil, "1"))
		r := newRigOf(t, impl, c, q)
		r.expect("waiting: Added waiting@1001, Deleted waiting@1001 (inferred)", "known: Deleted known@1001 (inferred)")
		assert.Equal(t, map[string]int{"waiting@1": 1}, seen)
	}},
	{"ASyncIsNotTransformed", func(t *testing.T, impl Implementation) {
		q, c, seen := stamped(impl, Obj("a", 1001))
		require.NoError(t, q.Resync())
		r := newRigOf(t, impl, c, q)
		r.expect("a: Sync a@1001")
		assert.Empty(t, seen)
	}},
	{"AnAdditionOrUpdateThatTransformRefusesIsNotQueued", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":    func(q Queue) error { return q.Add(Obj("bad", 666)) },
			"Update": func(q Queue) error { return q.Update(Obj("bad", 666)) },
		} {
			r, refused := refusing(t, impl, Obj("bad", 1))
			err := call(r.queue)
			assert.ErrorIs(t, err, errTransform, name)
			transformError, typed := errors.AsType[*deltafifo.TransformError](err)
			require.Equal(t, impl.has(TransformErrors), typed, "%s: %v", name, err)
			if typed {
				assert.Equal(t, "bad", transformError.Key, name)
				assert.Equal(t, []string{"bad"}, *refused, "%s: the calls of Config.Refused", name)
			}
			r.expect()
			assert.Equal(t, []string{"bad@1"}, r.consumer.Objects(), "%s: the store keeps the old state", name)
		}
	}},
}, behaviours([]script{
	{name: "AListedObjectThatIsRefusedKeepsItsState", known: "known@1 changed@1", bad: true, needs: SkipsRefused,
		calls: "add waiting@1; update changed@2; list known@666 changed@666 waiting@666 unknown@666",
		want:  "waiting: Added waiting@1; changed: Updated changed@2",
		holds: "changed@2 known@1 waiting@1"}, // no refused object counts as deleted
	{name: "AListedObjectThatIsRefusedWhileItIsProcessedKeepsItsState", bad: true, needs: SkipsRefused,
		calls: "add a@1", during: "list a@666",
		want: "nothing", holds: "a@1"},
	{name: "AnObjectListedTwiceAndRefusedOnceIsReplaced", known: "a@1", bad: true, needs: SkipsRefused,
		calls: "list a@666 a@2",
		want:  "a: Replaced a@2"},
	{name: "ADeletionThatIsRefusedWhileItsObjectIsAdded", bad: true, needs: SkipsRefused,
		calls: "add a@1", during: "delete a@666",
		want: "a: Deleted a@1 (inferred)"},
	{name: "ADeletionThatIsRefusedWhileItsObjectIsDeleted", known: "a@1", bad: true, needs: SkipsRefused,
		calls: "delete a@2", during: "delete a@666",
		want: "nothing"},
	{name: "ADeletionThatIsRefusedAndRepeated", known: "a@1 b@1", bad: true, needs: SkipsRefused,
		calls:   "delete a@666; delete a@2; delete b@666; add b@3",
		want:    "a: Deleted a@2; b: Deleted b@1 (inferred), Added b@3",
		without: Accumulation,
		instead: "a: Deleted a@1 (inferred); b: Deleted b@1 (inferred), Added b@3"},
})...)
