package store

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
