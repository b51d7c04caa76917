package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnchangedContentIsNoWrite(t *testing.T) {
	c := New(Config{}).Collection(configMaps)
	d := draft(Key{"default", "a"}, "1")
	d.Fields = map[string]string{"status.phase": "Running"}
	o, err := c.Create(d, nil)
	require.NoError(t, err)

	again := draft(Key{"default", "a"}, "1")
	again.Fields = map[string]string{"status.phase": "Running"}
	require.NoError(t, again.Object.SetNested("999", "metadata", "resourceVersion"))
	same, swapped, err := c.Replace(o, again)
	require.NoError(t, err)
	assert.True(t, swapped)
	assert.Same(t, o, same)
	assert.Equal(t, uint64(2), c.store.Version())

	again.Fields = nil
	other, swapped, err := c.Replace(o, again)
	require.NoError(t, err)
	assert.True(t, swapped)
	assert.Equal(t, uint64(3), other.Version, "selectors see a difference")
	assert.Nil(t, other.Fields)
}

func TestGuardDecidesInTheInstantOfTheWrite(t *testing.T) {
	s := New(Config{})
	namespaces, c := s.Collection("/registry/namespaces"), s.Collection(configMaps)
	missing := errors.New("no namespace")
	guard := func(get func(string, Key) (*Object, bool)) error {
		if _, ok := get("/registry/nothing", Key{}); ok {
			return errors.New("a new collection is not empty")
		}
		if _, ok := get("/registry/namespaces", Key{Name: "default"}); !ok {
			return missing
		}
		return nil
	}
	_, err := c.Create(draft(Key{"default", "a"}, "1"), guard)
	require.ErrorIs(t, err, missing)
	assert.Equal(t, uint64(1), s.Version())

	create(t, namespaces, Key{Name: "default"}, "")
	_, err = c.Create(draft(Key{"default", "a"}, "1"), guard)
	require.NoError(t, err)
	_, err = c.Create(draft(Key{"default", "a"}, "1"), func(func(string, Key) (*Object, bool)) error { return missing })
	require.ErrorIs(t, err, missing, "the guard runs before the lookup of the key")

}

// A guard that panics must not leave the store locked: the server answers 500 and continues.
func TestGuardThatPanics(t *testing.T) {
	c := New(Config{}).Collection(configMaps)
	assert.Panics(t, func() {
		_, _ = c.Create(draft(Key{"default", "a"}, "1"),
			func(func(string, Key) (*Object, bool)) error { panic("oops") })
	})
	create(t, c, Key{"default", "a"}, "1")
}

func TestDroppedCollection(t *testing.T) {
	s := New(Config{})
	c := s.Collection(configMaps)
	o := create(t, c, Key{"default", "a"}, "1")
	before := view(t, c, 0)
	s.Drop(configMaps)
	s.Drop("/registry/nothing")

	assert.Equal(t, uint64(3), s.Version(), "the state without the collection has its own version")
	_, ok := c.Get(o.Key)
	assert.False(t, ok)
	_, err := c.Create(draft(Key{"default", "b"}, "1"), nil)
	require.ErrorIs(t, err, ErrDropped)
	_, _, err = c.Replace(o, draft(o.Key, "2"))
	require.ErrorIs(t, err, ErrDropped)
	_, swapped := c.Delete(o)
	assert.False(t, swapped)
	_, err = c.View(0)
	require.ErrorIs(t, err, ErrDropped)
	_, err = c.Watch(3)
	require.ErrorIs(t, err, ErrDropped)
	assert.Equal(t, 1, before.Len(""), "views are immutable")

	again := s.Collection(configMaps)
	require.NotSame(t, c, again)
	var expired *ExpiredError
	_, err = again.View(2)
	require.ErrorAs(t, err, &expired, "it was not empty then")
	assert.Equal(t, ExpiredError{Prefix: configMaps, Version: 2, Oldest: 3}, *expired)
	assert.Equal(t, 0, view(t, again, 3).Len(""))
}

func TestCompactionIsRememberedForCollectionsToCome(t *testing.T) {
	s := New(Config{})
	create(t, s.Collection("/registry/a"), Key{"n", "x"}, "1")
	assert.Equal(t, uint64(2), s.Compact())
	_, err := s.Collection("/registry/b").Watch(1)
	assert.ErrorAs(t, err, new(*ExpiredError))
	assert.EqualError(t, err, "store: /registry/b: version 1 is too old, history begins at 2")
}

// The hook runs without a lock, so it may read the store.
func TestCommittedWritesAreReported(t *testing.T) {
	var s *Store
	var reported []string
	s = New(Config{Committed: func(prefix string, e Event) {
		reported = append(reported,
			fmt.Sprintf("%s %s %s %d of %d", prefix, e.Type, e.Object.Key, e.Version(), s.Version()))
	}})
	c := s.Collection(configMaps)
	o := create(t, c, Key{"default", "a"}, "1")
	o = replace(t, c, o, "2")
	replace(t, c, o, "2")
	remove(t, c, o)
	assert.Equal(t, []string{
		"/registry/configmaps ADDED default/a 2 of 2", "/registry/configmaps MODIFIED default/a 3 of 3",
		"/registry/configmaps DELETED default/a 4 of 4",
	}, reported)
}

func watch(t testing.TB, c *Collection, after uint64) *Cursor {
	cursor, err := c.Watch(after)
	require.NoError(t, err)
	return cursor
}

// await returns the next events. It blocks until there are some.
func await(t testing.TB, cursor *Cursor) ([]Event, error) {
	for {
		events, changed, err := cursor.Poll()
		if err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			return nil, t.Context().Err()
		}
	}
}

func next(t testing.TB, cursor *Cursor) []string {
	events, err := await(t, cursor)
	require.NoError(t, err)
	texts := []string{}
	for _, e := range events {
		texts = append(texts, fmt.Sprint(e.Type, " ", e.Object.Key, " ", valueOf(e.Object)))
	}
	return texts
}

func TestCursorWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{})
		c := s.Collection(configMaps)
		var seen sync.Map
		for i := range 10 {
			cursor := watch(t, c, s.Version())
			go func() { seen.Store(i, next(t, cursor)) }()
		}
		synctest.Wait()
		create(t, s.Collection("/registry/secrets"), Key{"n", "a"}, "1")
		synctest.Wait()
		_, some := seen.Load(0)
		assert.False(t, some, "writes to other collections wake no cursor")
		create(t, c, Key{"n", "a"}, "1")
		synctest.Wait()
		for i := range 10 {
			got, _ := seen.Load(i)
			assert.Equal(t, []string{"ADDED n/a 1"}, got, "watcher %d", i)
		}
	})
}

func TestCursorOfADroppedCollection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{})
		c := s.Collection(configMaps)
		behind, waiting := watch(t, c, 1), watch(t, c, 1)
		o := create(t, c, Key{"n", "a"}, "1")
		next(t, waiting)
		remove(t, c, o)
		next(t, waiting)
		ended := make(chan error, 1)
		go func() {
			_, err := await(t, waiting)
			ended <- err
		}()
		synctest.Wait()
		s.Drop(configMaps)
		require.ErrorIs(t, <-ended, ErrDropped)

		assert.Equal(t, []string{"ADDED n/a 1", "DELETED n/a 1"}, next(t, behind), "earlier writes can still be read")
		_, err := await(t, behind)
		require.ErrorIs(t, err, ErrDropped)
		version, upToDate := behind.Progress()
		assert.True(t, upToDate)
		assert.Equal(t, uint64(3), version, "no more progress")
	})
}
