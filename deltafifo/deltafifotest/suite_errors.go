package deltafifotest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var errTransform = errors.New("cannot make sense of it")

// stamped returns a queue whose Transform adds 1000 to the version and refuses version 666. The map
// counts the calls per object.
func stamped(impl Implementation, known ...*Object) (Queue, *Consumer, map[string]int) {
	seen := map[string]int{}
	consumer := NewConsumer(known...)
	queue := impl.New(deltafifo.Config[*Object]{
		KeyFunc:      KeyFunc,
		KnownObjects: consumer,
		Transform: func(o *Object) (*Object, error) {
			seen[o.String()]++
			if o.Version == 666 {
				return nil, errTransform
			}
			return Obj(o.Name, o.Version+1000), nil
		},
	})
	return queue, consumer, seen
}

var errorTests = []behaviour{
	{"AnObjectWithoutAKeyIsRefused", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":     func(q Queue) error { return q.Add(Obj("", 1)) },
			"Update":  func(q Queue) error { return q.Update(Obj("", 1)) },
			"Delete":  func(q Queue) error { return q.Delete(Obj("", 1)) },
			"Replace": func(q Queue) error { return q.Replace([]*Object{Obj("", 1)}, "1") },
		} {
			r := newRig(t, impl)
			err := call(r.queue)
			keyError, ok := errors.AsType[*deltafifo.KeyError](err)
			require.True(t, ok, "%s: %v", name, err)
			assert.Equal(t, Obj("", 1), keyError.Obj, name)
			assert.ErrorIs(t, err, ErrNameless, name)
			r.expect()
		}
	}},
	{"AListIsTakenWholeOrNotAtAll", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl, Obj("gone", 1))
		require.Error(t, r.queue.Replace([]*Object{Obj("a", 1), Obj("", 1), Obj("b", 1)}, "1"))
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		if impl.has(AtomicReplace) {
			r.expect()
		} else {
			r.expect("a: Replaced a@1") // and neither b nor the tombstone of gone
		}
	}},
	{"AfterAFailedListTheNextOneIsTheFirst", func(t *testing.T, impl Implementation) {
		r := newRig(t, impl)
		require.Error(t, r.queue.Replace([]*Object{Obj("", 1)}, "1"))
		r.replace(Obj("a", 1))
		assert.False(t, r.queue.HasSynced(), "want HasSynced false, got true")
		r.pop()
		assert.True(t, r.queue.HasSynced(), "want HasSynced true, got false")
	}},
	{"EachObjectIsTransformedOnce", func(t *testing.T, impl Implementation) {
		q, c, seen := stamped(impl, Obj("d", 1))
		require.NoError(t, q.Add(Obj("a", 1)))
		require.NoError(t, q.Update(Obj("a", 2)))
		require.NoError(t, q.Delete(Obj("a", 3)))
		require.NoError(t, q.Replace([]*Object{Obj("b", 1), Obj("c", 1), Obj("d", 2)}, "1"))
		r := newRigOf(t, impl, c, q)
		r.expect("a: Added a@1001, Updated a@1002, Deleted a@1003", "b: Replaced b@1001", "c: Replaced c@1001", "d: Replaced d@1002")
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
	{"WhatTransformRefusesIsNotQueued", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":     func(q Queue) error { return q.Add(Obj("bad", 666)) },
			"Update":  func(q Queue) error { return q.Update(Obj("bad", 666)) },
			"Delete":  func(q Queue) error { return q.Delete(Obj("bad", 666)) },
			"Replace": func(q Queue) error { return q.Replace([]*Object{Obj("bad", 666)}, "1") },
		} {
			q, c, _ := stamped(impl, Obj("bad", 1))
			err := call(q)
			require.Error(t, err, name)
			if impl.has(TransformErrors) {
				refused, ok := errors.AsType[*deltafifo.TransformError](err)
				require.True(t, ok, "%s: %v", name, err)
				assert.Equal(t, "bad", refused.Key, name)
				assert.ErrorIs(t, err, errTransform, name)
			} else {
				_, typed := errors.AsType[*deltafifo.TransformError](err)
				assert.False(t, typed, name)
				assert.Equal(t, name != "Replace", errors.Is(err, errTransform), name)
			}
			newRigOf(t, impl, c, q).expect()
		}
	}},
}
