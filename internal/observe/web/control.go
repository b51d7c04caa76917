package web

import (
	"context"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Control holds a run at its gates. Its methods may be called from any goroutine and do not wait.
type Control interface {
	// Do carries out a command of a page. The error is a sentence for its reader.
	Do(Command) error
	// State returns the gates, and a channel that is closed when they change.
	State() (state ControlState, changed <-chan struct{})
	// Release opens all gates.
	Release()
}

// Command is what a page asks for.
type Command struct {
	Do       string `json:"do"`                 // close, open, step, release, answer
	Gate     string `json:"gate,omitempty"`     // of close and open
	Resource string `json:"resource,omitempty"` // of close: the informer or queue whose items wait; "": all
	Choice   string `json:"choice,omitempty"`   // of answer: to the question of a guided scene
}

// ControlState is what a page shows of the gates.
type ControlState struct {
	Gates []GateState `json:"gates"`
}

// GateState is one gate.
type GateState struct {
	Name    string `json:"name"`
	Wired   bool   `json:"wired"` // the run has it
	Closed  bool   `json:"closed"`
	Where   string `json:"where,omitempty"` // what it holds; "": everything
	Waiting int    `json:"waiting"`
}

// absence is how long the gates stay closed without a page: enough to load it again.
const absence = 10 * time.Second

// controls counts the pages, each of which may send commands. Without a page nobody could open the
// gates.
type controls struct {
	control Control

	away *time.Timer // runs since the last page has gone

	mu    sync.Mutex // guards the fields below
	pages int
}

func newControls(control Control) *controls {
	c := &controls{control: control}
	c.away = time.AfterFunc(absence, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pages == 0 {
			c.control.Release()
		}
	})
	c.away.Stop() // a page will come
	return c
}

// enter is called when a page has come.
func (c *controls) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages++
	c.away.Stop()
}

// leave is called when a page has gone. Without a page the gates open after a while.
func (c *controls) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages--; c.pages == 0 {
		c.away.Reset(absence)
	}
}

// end opens the gates when the server stops: no page can do so any more.
func (c *controls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away.Stop()
	c.control.Release()
}

// controlMessage is a message to a page.
type controlMessage struct {
	ControlState
	Error string `json:"error,omitempty"`
}

// pause is the time between two messages about the gates.
const pause = 50 * time.Millisecond

// tell sends the state of the gates to a page, and the errors of its commands, until ctx ends.
func (c *controls) tell(ctx context.Context, errs <-chan error, send func(text []byte) error) {
	var failed error
	for {
		state, changed := c.control.State()
		message := controlMessage{ControlState: state}
		if failed != nil {
			message.Error = failed.Error()
		}
		if send(encoded(map[string]any{"control": message})) != nil {
			return
		}
		failed = nil
		select {
		case <-changed:
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

// hear carries out the commands of a page until it goes.
func (c *controls) hear(page *websocket.Conn, errs chan<- error) {
	c.enter()
	defer c.leave()
	for {
		var command Command
		if err := page.ReadJSON(&command); err != nil {
			return
		}
		if err := c.control.Do(command); err != nil {
			select {
			case errs <- err:
			default: // the page has not read the last ones
			}
		}
	}
}
