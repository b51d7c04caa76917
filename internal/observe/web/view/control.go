package view

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Control holds a run at its gates. Its methods may be called from any goroutine and do not wait.
type Control interface {
	// Do carries out a command of the page in control. The error is a sentence for its reader.
	Do(Command) error
	// State returns the gates, and a channel that is closed when they change.
	State() (state ControlState, changed <-chan struct{})
	// Release opens all gates.
	Release()
}

// Command is what a page asks for.
type Command struct {
	Do     string `json:"do"`               // take, close, open, step, run, release, answer
	Gate   string `json:"gate,omitempty"`   // of close, open and step; a step without one takes the oldest item
	Where  string `json:"where,omitempty"`  // a condition, of close and run
	Choice string `json:"choice,omitempty"` // of answer: to the question of a guided scene
}

// ControlState is what a page shows of the gates.
type ControlState struct {
	Gates []GateState `json:"gates"`
	RunTo string      `json:"runTo,omitempty"` // the condition of a run that goes on
}

// GateState is one gate.
type GateState struct {
	Name    string `json:"name"`
	Wired   bool   `json:"wired"` // the run has it
	Closed  bool   `json:"closed"`
	Where   string `json:"where,omitempty"` // what it holds; "": everything
	Waiting int    `json:"waiting"`
}

// absence is how long the gates stay closed without a page in control: enough to load it again.
const absence = 10 * time.Second

// errNotInControl is the answer to commands of other pages.
var errNotInControl = errors.New("another page is in control; close it first")

// controls knows which page is in control. The first page that asks is, until it goes.
type controls struct {
	control Control

	mu      sync.Mutex
	page    *websocket.Conn // in control; nil: none
	away    *time.Timer     // since the page in control has gone
	changed chan struct{}   // closed when page changes
}

func newControls(control Control) *controls {
	return &controls{control: control, changed: make(chan struct{})}
}

// do carries out the command of a page, which takes control if no page has it.
func (c *controls) do(page *websocket.Conn, command Command) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.page == nil {
		if c.away != nil {
			c.away.Stop()
		}
		c.setLocked(page)
	}
	switch {
	case command.Do == "take":
		return nil
	case c.page != page:
		return errNotInControl
	}
	return c.control.Do(command)
}

func (c *controls) setLocked(page *websocket.Conn) {
	c.page = page
	close(c.changed)
	c.changed = make(chan struct{})
}

// leave is called when a page has gone. Without a page in control the gates open after a while.
func (c *controls) leave(page *websocket.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.page != page {
		return
	}
	c.setLocked(nil)
	c.away = time.AfterFunc(absence, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.page == nil {
			c.control.Release()
		}
	})
}

// end opens the gates when the server stops: no page can do so any more.
func (c *controls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away != nil {
		c.away.Stop()
	}
	c.control.Release()
}

// controlMessage is a message to a page.
type controlMessage struct {
	ControlState
	Yours bool   `json:"yours"` // the page is in control
	Taken bool   `json:"taken"` // a page is in control
	Error string `json:"error,omitempty"`
}

// pause is the time between two messages about the gates.
const pause = 50 * time.Millisecond

// tell sends the state of the gates to a page, and the errors of its commands, until ctx ends.
func (c *controls) tell(ctx context.Context, page *websocket.Conn, errs <-chan error, send func(text []byte) error) {
	var failed error
	for {
		state, changed := c.control.State()
		c.mu.Lock()
		message := controlMessage{ControlState: state, Yours: c.page == page, Taken: c.page != nil}
		pageChanged := c.changed
		c.mu.Unlock()
		if failed != nil {
			message.Error = failed.Error()
		}
		text, err := json.Marshal(map[string]any{"control": message})
		if err != nil {
			panic(err) // strings and numbers only
		}
		if send(text) != nil {
			return
		}
		failed = nil
		select {
		case <-changed:
		case <-pageChanged:
		case failed = <-errs:
		case <-ctx.Done():
			return
		}
		if failed == nil {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	}
}

// hear reads the commands of a page until it goes.
func (c *controls) hear(page *websocket.Conn, errs chan<- error) {
	defer c.leave(page)
	for {
		var command Command
		if err := page.ReadJSON(&command); err != nil {
			return
		}
		if err := c.do(page, command); err != nil {
			select {
			case errs <- err:
			default: // the page has not read the last ones
			}
		}
	}
}
