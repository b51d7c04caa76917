package trace_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/queue"
)

// A cursor begins with a state and reads every line once, while lines are added.
func TestCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := trace.NewHistory(1000)
		h.Add("one\ntwo\n", 2)
		c := h.Cursor(10)
		next := func(c *trace.Cursor) string {
			t.Helper()
			lines, err := c.Next(t.Context())
			require.NoError(t, err)
			return string(lines)
		}
		assert.Equal(t, "state 0\none\ntwo\n", next(c))
		go h.Add("three\n", 3)
		assert.Equal(t, "three\n", next(c))
		h.Begin("state 3\n", 3)
		h.Add("four\n", 4)
		assert.Equal(t, "state 3\nfour\n", next(c))
		assert.Equal(t, "state 3\nfour\n", next(h.Cursor(1)), "a late cursor begins with the last state")
		assert.Equal(t, "state 0\none\ntwo\nthree\n", next(h.Cursor(2)), "that state is too late")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Next(ctx)
		assert.ErrorIs(t, err, context.Canceled)
		h.End()
		_, err = c.Next(t.Context())
		assert.ErrorIs(t, err, io.EOF)
	})
}

// A cursor that does not keep up goes on with a later state.
func TestCursorFallsOut(t *testing.T) {
	h := trace.NewHistory(100)
	c := h.Cursor(10)
	_, err := c.Next(t.Context())
	require.NoError(t, err)
	for n := range uint64(20) {
		h.Add(strings.Repeat("x", 20)+"\n", n+1)
		h.Begin(fmt.Sprintf("state %d\n", n+1), n+1)
	}
	h.Add("last\n", 21)
	lines, err := c.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "state 20\nlast\n", string(lines))
}

// A whole state follows 1,000 events. At the first one behind half of the limit the file is
// renamed, and the new one opens by itself, compressed or not.
func TestRotation(t *testing.T) {
	for _, name := range []string{"run.jsonl", "run.jsonl.gz"} {
		file := filepath.Join(t.TempDir(), name)
		limit := map[string]int64{"run.jsonl": 100_000, "run.jsonl.gz": 11_000}[name] // 1,000 events have more than half
		r, check := start(t, trace.Config{File: file, Limit: limit})
		for n := range 2500 {
			r.Input("input", fmt.Sprint(n))
			if n%20 == 0 {
				r.Flush()
			}
		}
		assert.Equal(t, "done", check().Ended)
		events, _ := readFile(t, file)
		assert.Len(t, events, 501, "it was rotated, twice, and has an end")
		before, last := readFile(t, file+".1")
		assert.Equal(t, 1000, len(before), "the file was renamed at another event than the first behind half of the limit")
		assert.Empty(t, last.Ended)
	}
}

// A full disk, here a directory that has gone, ends the recording. The History goes on.
func TestTheFileFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o700))
	r, err := trace.Start(trace.Config{File: filepath.Join(dir, "run.jsonl"), Limit: 100})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	for n := range 1001 {
		r.Input("input", fmt.Sprint(n))
	}
	r.Stop("done")
	assert.Error(t, r.Err())
	lines, err := r.History().Cursor(0).Next(t.Context())
	require.NoError(t, err)
	assert.Contains(t, string(lines), `"args":"1000"`)
	_, err = trace.Start(trace.Config{File: filepath.Join(dir, "run.jsonl")})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A recording that has lost events says so and ends. The run goes on.
func TestLostEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "run.jsonl")
		r, err := trace.StartSmall(trace.Config{File: file}, 1)
		require.NoError(t, err)
		q := queue.NewRateLimiting(nil, queue.Config[string]{Trace: r.Queue("keys")})
		for n := range 20 {
			q.Add(fmt.Sprint(n))
		}
		time.Sleep(time.Second)
		q.ShutDown()
		c := r.History().Cursor(0)
		for err == nil {
			_, err = c.Next(t.Context())
		}
		assert.ErrorIs(t, err, io.EOF, "the History has ended before the run")
		r.Stop("done")
		events, last := readFile(t, file)
		assert.Len(t, events, 3)
		assert.Equal(t, map[string]uint64{"queue": 19}, last.Lost)
		assert.Equal(t, []string{"0"}, last.Queues["keys"].Waiting())
		assert.Equal(t, "19 events were lost: the buffer was full", last.Ended)
		assert.EqualError(t, r.Err(), last.Ended)
	})
}

// endsAfter is a context that ends after something has happened, at the moment when it is asked.
type endsAfter struct {
	context.Context
	happens func()
}

func (c endsAfter) Done() <-chan struct{} {
	c.happens()
	return c.Context.Done()
}

// What came before the end is delivered, also if both come between a look and the wait.
func TestACursorDeliversWhatCameBeforeTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 { // a select that may choose would lose one in two
		h := trace.NewHistory(1000)
		h.Add("one\n", 1)
		c := h.Cursor(10)
		_, err := c.Next(t.Context())
		require.NoError(t, err)
		lines, err := c.Next(endsAfter{ctx, func() { h.Add("last\n", 2) }})
		require.NoError(t, err, "the last event is lost")
		assert.Equal(t, "last\n", string(lines))
	}
}
