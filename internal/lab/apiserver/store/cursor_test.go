package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func watch(t testing.TB, c *Collection, after uint64) *Cursor {
	cursor, err := c.Watch(after)
	require.NoError(t, err)
	return cursor
}

func next(t testing.TB, cursor *Cursor) []string {
	events, err := cursor.Next(t.Context())
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

func TestCursorStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cursor := watch(t, New(Config{}).Collection(configMaps), 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := cursor.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestCursorInASelect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{})
		c := s.Collection(configMaps)
		cursor := watch(t, c, 1)
		timeout := time.After(time.Hour)
		time.AfterFunc(time.Minute, func() { create(t, c, Key{"n", "a"}, "1") })
		select {
		case <-cursor.Wait():
		case <-timeout:
			t.Fatal("the cursor was not woken")
		}
		<-cursor.Wait() // still closed
		assert.Equal(t, []string{"ADDED n/a 1"}, next(t, cursor))
		select {
		case <-cursor.Wait():
			t.Fatal("unexpected events")
		default:
		}
	})
}

func TestCursorFallsOutOfTheWindow(t *testing.T) {
	s := New(Config{Window: 3})
	c := s.Collection(configMaps)
	o := create(t, c, Key{"n", "a"}, "0")
	slow, quick := watch(t, c, 2), watch(t, c, 2)
	for i := range 3 {
		o = replace(t, c, o, fmt.Sprint(i+1))
	}
	assert.Equal(t, []string{"MODIFIED n/a 1", "MODIFIED n/a 2", "MODIFIED n/a 3"}, next(t, quick), "as far as the window goes")
	replace(t, c, o, "4")
	assert.Equal(t, []string{"MODIFIED n/a 4"}, next(t, quick))
	<-slow.Wait()
	for range 2 {
		_, err := slow.Next(t.Context())
		var expired *ExpiredError
		require.ErrorAs(t, err, &expired)
		assert.Equal(t, ExpiredError{Prefix: configMaps, Version: 2, Oldest: 3}, *expired)
	}
	_, err := c.Watch(2)
	require.ErrorAs(t, err, new(*ExpiredError))
	watch(t, c, 3)
}

func TestCompactionSparesCursorsThatAreUpToDate(t *testing.T) {
	s := New(Config{})
	c := s.Collection(configMaps)
	upToDate, behind := watch(t, c, 1), watch(t, c, 1)
	create(t, c, Key{"n", "a"}, "1")
	next(t, upToDate)
	create(t, s.Collection("/registry/secrets"), Key{"n", "a"}, "1")
	assert.Equal(t, uint64(3), s.Compact())

	_, err := behind.Next(t.Context())
	require.ErrorAs(t, err, new(*ExpiredError))
	_, err = c.Watch(2)
	require.ErrorAs(t, err, new(*ExpiredError), "as in etcd, compaction affects unchanged collections too")
	create(t, c, Key{"n", "b"}, "1")
	assert.Equal(t, []string{"ADDED n/b 1"}, next(t, upToDate))
	require.NoError(t, s.check())
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
			_, err := waiting.Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		s.Drop(configMaps)
		require.ErrorIs(t, <-ended, ErrDropped)

		assert.Equal(t, []string{"ADDED n/a 1", "DELETED n/a 1"}, next(t, behind), "earlier writes can still be read")
		<-behind.Wait()
		_, err := behind.Next(t.Context())
		require.ErrorIs(t, err, ErrDropped)
		version, upToDate := behind.Progress()
		assert.True(t, upToDate)
		assert.Equal(t, uint64(3), version, "no more progress")
	})
}

func TestProgressFollowsTheWholeStore(t *testing.T) {
	s := New(Config{})
	c := s.Collection(configMaps)
	cursor := watch(t, c, 1)
	check := func(want uint64, wantUpToDate bool) {
		t.Helper()
		version, upToDate := cursor.Progress()
		assert.Equal(t, want, version)
		assert.Equal(t, wantUpToDate, upToDate)
	}
	check(1, true)
	create(t, s.Collection("/registry/secrets"), Key{"n", "a"}, "1")
	check(2, true)
	create(t, c, Key{"n", "a"}, "1")
	check(2, false)
	next(t, cursor)
	check(3, true)
	s.Compact()
	check(3, true)
}

// Every cursor sees every write in order, with the default window, even if it is slower than the
// writer.
func TestManyCursorsSeeEveryWriteInOrder(t *testing.T) {
	const watchers, writes = 200, 10000
	s := New(Config{})
	c := s.Collection(configMaps)
	o := create(t, c, Key{"n", "a"}, "0")
	var group sync.WaitGroup
	for range watchers {
		cursor := watch(t, c, o.Version)
		group.Go(func() {
			want := o.Version
			for want < o.Version+writes {
				events, err := cursor.Next(t.Context())
				if !assert.NoError(t, err) {
					return
				}
				for _, e := range events {
					want++
					if !assert.Equal(t, want, e.Version()) {
						return
					}
				}
			}
		})
	}
	current := o
	for i := range writes {
		current = replace(t, c, current, fmt.Sprint("v", i))
	}
	group.Wait()
	require.NoError(t, s.check())
}
