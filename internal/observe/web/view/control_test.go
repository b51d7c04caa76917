package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/queue"
)

// heard is a Control that notes what it is asked for.
type heard struct {
	commands []Command
	released atomic.Int32
}

func (h *heard) Do(c Command) error {
	h.commands = append(h.commands, c)
	if c.Gate == "G9" {
		return errors.New("there is no such gate")
	}
	return nil
}

func (h *heard) State() (ControlState, <-chan struct{}) { return ControlState{}, nil }

func (h *heard) Release() { h.released.Add(1) }

// One page is in control. Ten seconds after it has gone, the gates open, unless a page has taken
// control in the meantime.
func TestOnePageIsInControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var control heard
		c := newControls(&control)
		first, second := new(websocket.Conn), new(websocket.Conn)
		step := Command{Do: "step", Gate: "G1"}
		assert.NoError(t, c.do(first, Command{Do: "take"}))
		assert.NoError(t, c.do(second, Command{Do: "take"}), "to ask is no mistake")
		assert.Equal(t, errNotInControl, c.do(second, step))
		assert.Empty(t, control.commands)
		assert.NoError(t, c.do(first, step))
		assert.Equal(t, []Command{step}, control.commands)
		assert.EqualError(t, c.do(first, Command{Do: "step", Gate: "G9"}), "there is no such gate")

		c.leave(second)
		time.Sleep(absence + time.Second)
		assert.Zero(t, control.released.Load(), "the page in control is still there")
		c.leave(first)
		time.Sleep(absence - time.Second)
		assert.NoError(t, c.do(second, step), "the second page takes over in time")
		time.Sleep(2 * absence)
		assert.Zero(t, control.released.Load())
		c.leave(second)
		time.Sleep(absence - time.Second)
		assert.Zero(t, control.released.Load())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.EqualValues(t, 1, control.released.Load())

		assert.NoError(t, c.do(first, step))
		c.leave(first)
		c.end()
		assert.EqualValues(t, 2, control.released.Load(), "at once when the server stops")
		time.Sleep(2 * absence)
		assert.EqualValues(t, 2, control.released.Load())
	})
}

// A page that has gone for a moment is not the one whose absence counts afterwards.
func TestAbsenceBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var control heard
		c := newControls(&control)
		first, second := new(websocket.Conn), new(websocket.Conn)
		require.NoError(t, c.do(first, Command{Do: "take"}))
		c.leave(first)
		time.Sleep(absence / 2)
		require.NoError(t, c.do(second, Command{Do: "take"}))
		c.leave(second)
		time.Sleep(absence - time.Second)
		assert.Zero(t, control.released.Load(), "the second page may still come back")
		time.Sleep(2 * time.Second)
		assert.EqualValues(t, 1, control.released.Load())

		// A page comes at the moment at which the absence ends.
		require.NoError(t, c.do(first, Command{Do: "take"}))
		c.leave(first)
		c.mu.Lock()
		time.Sleep(absence)
		c.setLocked(second)
		c.mu.Unlock()
		synctest.Wait()
		assert.EqualValues(t, 1, control.released.Load(), "a page is in control")
	})
}

// The error of a command is in one message.
func TestAnErrorIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newControls(&heard{})
		page := new(websocket.Conn)
		var told []string
		send := func(text []byte) error {
			var message struct{ Control struct{ Error string } }
			require.NoError(t, json.Unmarshal(text, &message))
			told = append(told, message.Control.Error)
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 1)
		go c.tell(ctx, page, errs, send)
		errs <- errors.New("there is no such gate")
		synctest.Wait()
		require.NoError(t, c.do(page, Command{Do: "take"}))
		time.Sleep(2 * pause)
		cancel()
		synctest.Wait()
		assert.Equal(t, []string{"", "there is no such gate", ""}, told)
	})
}

// When the server stops, the gates open, for no page can open them any more.
func TestGatesOpenWithTheServersEnd(t *testing.T) {
	var control heard
	newHub(nil, &control).stop()
	assert.EqualValues(t, 1, control.released.Load())
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

// Both languages have the same sentences, with the same placeholders.
func TestBothLanguagesHaveTheSameStrings(t *testing.T) {
	read := func(name string) (all map[string]string) {
		require.NoError(t, json.Unmarshal([]byte(readPage(name)), &all))
		return all
	}
	english, chinese := read("strings.en.json"), read("strings.zh-CN.json")
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	count := func(text string) map[string]int {
		all := map[string]int{}
		for _, found := range placeholder.FindAllString(text, -1) {
			all[found]++
		}
		return all
	}
	for name, text := range english {
		assert.Contains(t, chinese, name)
		assert.Equal(t, count(text), count(chinese[name]), "placeholders of %s", name)
	}
	assert.Len(t, chinese, len(english))
}
