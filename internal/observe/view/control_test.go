package view

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
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
