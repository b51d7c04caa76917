package view

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/queue"
)

// A client that is far behind at the end gets all that has happened, the last line included.
func TestTheEndIsSentWhole(t *testing.T) {
	recorder, err := trace.Start(trace.Config{})
	require.NoError(t, err)
	hooks, events := recorder.Queue("work"), 6000 // which are several batches
	for n := range events {
		hooks.Added(queue.Event[string]{Key: fmt.Sprintf("%0100d", n), Seq: uint64(n + 1)})
	}
	recorder.Stop("panic: the last words")
	ended, end := context.WithCancel(t.Context())
	end()
	var lines []byte
	sent := 0
	newHub(recorder, nil).follow(ended, func(part []byte) error {
		lines = append(lines, part...)
		sent++
		return nil
	})
	assert.Greater(t, sent, 2)
	assert.Equal(t, events+3, bytes.Count(lines, []byte("\n")), "with header, state and end")
	assert.Contains(t, string(lines[bytes.LastIndexByte(lines[:len(lines)-1], '\n'):]), "panic: the last words")
}

// A client that reads slowly delays the end once, not once for each message.
func TestTheEndHasOneDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(nil, nil)
		time.Sleep(time.Second)
		assert.Equal(t, time.Now().Add(writeTimeout), h.deadline())
		h.stop()
		want := h.deadline()
		assert.Equal(t, time.Now().Add(writeTimeout), want)
		time.Sleep(time.Second)
		assert.Equal(t, want, h.deadline())
	})
}
