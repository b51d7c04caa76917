package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/queue"
)

// heard is a Control that counts how often the gates were opened.
type heard struct {
	Control
	released atomic.Int32
}

func (h *heard) Release() { h.released.Add(1) }

// Ten seconds after the last page has gone, the gates open, unless a page has come in the meantime.
// When the server stops they open at once: no page can do so any more.
func TestGatesOpenWithoutAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var control heard
		c := newControls(&control)
		after := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			assert.EqualValues(t, want, control.released.Load())
		}
		c.enter()
		c.enter()
		c.leave()
		after(2*absence, 0) // a page is still there
		c.leave()
		after(absence/2, 0)
		c.enter()
		c.leave()
		after(absence-time.Second, 0) // the second absence is the one that counts
		after(time.Second, 1)

		c.enter()
		c.leave()
		c.mu.Lock() // a page comes at the moment at which the absence ends
		time.Sleep(absence)
		c.pages++
		c.mu.Unlock()
		after(0, 1)
		c.leave()
		c.end()
		after(2*absence, 2)
		newHub(nil, &control).stop()
		after(0, 3)
	})
}

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
	assert.Equal(t, events, bytes.Count(lines, []byte(`"e":"queue.added"`)), "every event")
	assert.Contains(t, string(lines[bytes.LastIndexByte(lines[:len(lines)-1], '\n'):]), "panic: the last words")
}

// Both languages have the same sentences, with the same placeholders.
func TestBothLanguagesHaveTheSameStrings(t *testing.T) {
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	placeholders := func(file string) map[string][]string {
		var all map[string]string
		require.NoError(t, json.Unmarshal([]byte(readPage(file)), &all))
		found := map[string][]string{}
		for name, text := range all {
			found[name] = slices.Sorted(slices.Values(placeholder.FindAllString(text, -1)))
		}
		return found
	}
	assert.Equal(t, placeholders("strings.en.json"), placeholders("strings.zh-CN.json"))
}
