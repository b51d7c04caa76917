package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"orrery/internal/observe/trace"
)

// Source is a run as it goes on; a *trace.Recorder is one. Its methods may be called from any
// goroutine and never wait.
type Source interface {
	Header() trace.Header
	History() *trace.History
}

const (
	pingPeriod   = 20 * time.Second
	writeTimeout = 5 * time.Second
	mostClients  = 8
	eventsBack   = 20_000
	mostIncoming = 512 // bytes of a message from a page
)

// hub sends a run to its clients, each with a cursor and a goroutine of its own.
type hub struct {
	source  Source
	control *controls // nil: pages only look
	upgrade websocket.Upgrader
	ctx     context.Context // ends with the server
	end     context.CancelFunc
	running sync.WaitGroup // the goroutines of clients

	mu      sync.Mutex
	clients int // guarded by mu; no more after the end of ctx
}

func newHub(source Source, control Control) *hub {
	ctx, end := context.WithCancel(context.Background())
	h := &hub{
		source: source, ctx: ctx, end: end,
		// hostcheck has compared the Origin with the Host.
		upgrade: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
	}
	if control != nil {
		h.control = newControls(control)
	}
	return h
}

// enter takes one of the places for clients; the caller must call leave.
func (h *hub) enter(w http.ResponseWriter) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients == mostClients || h.ctx.Err() != nil {
		http.Error(w, fmt.Sprintf("there are %d pages already: close one", h.clients), http.StatusServiceUnavailable)
		return false
	}
	h.clients++
	h.running.Add(1)
	return true
}

func (h *hub) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients--
	h.running.Done()
}

// stop ends all clients, after what has happened so far, and waits for them.
func (h *hub) stop() {
	h.mu.Lock()
	h.end()
	h.mu.Unlock()
	h.running.Wait()
	if h.control != nil {
		h.control.end()
	}
}

// serveSocket sends the run over a websocket until one of the two ends.
func (h *hub) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !h.enter(w) {
		return
	}
	defer h.leave()
	conn, err := h.upgrade.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	var writing sync.Mutex
	send := func(text []byte) error {
		writing.Lock()
		defer writing.Unlock()
		_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
		return conn.WriteMessage(websocket.TextMessage, text)
	}
	errs := make(chan error, 1)
	h.running.Go(func() { // answers the client's control messages, and notices its end
		defer cancel()
		conn.SetReadLimit(mostIncoming)
		if h.control != nil {
			h.control.hear(conn, errs)
			return
		}
		for {
			if _, _, err := conn.NextReader(); err != nil {
				return
			}
		}
	})
	h.running.Go(func() { ping(ctx, conn) })
	if h.control != nil {
		h.running.Go(func() { h.control.tell(ctx, conn, errs, send) })
	}
	h.follow(ctx, send)
	_ = conn.WriteControl( // an error means that the client has gone
		websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "the program has stopped"), time.Now().Add(writeTimeout))
}

// ping sends a ping now and then, so that a client that has vanished is noticed while nothing
// happens.
func ping(ctx context.Context, conn *websocket.Conn) {
	pings := time.NewTicker(pingPeriod)
	defer pings.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pings.C:
			if conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout)) != nil {
				conn.Close() // ends its reader and writer
				return
			}
		}
	}
}

// serveLines sends the run as lines, for programs.
func (h *hub) serveLines(w http.ResponseWriter, r *http.Request) {
	if !h.enter(w) {
		return
	}
	defer h.leave()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	control := http.NewResponseController(w)
	h.follow(ctx, func(lines []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write(lines); err != nil {
			return err
		}
		return control.Flush()
	})
}

// follow sends a header, a state, and what happens from there on, until the run ends or a send
// fails. When ctx ends, it sends what has happened so far.
func (h *hub) follow(ctx context.Context, send func(lines []byte) error) {
	cursor := h.source.History().Cursor(eventsBack)
	text, err := json.Marshal(h.source.Header())
	if err != nil {
		panic(err) // strings and numbers only
	}
	text = append(text, '\n')
	for last := false; !last; {
		last = ctx.Err() != nil
		batch, err := cursor.Next(ctx)
		if err != nil && len(text) == 0 {
			return
		}
		if batch.State != nil {
			text = appendState(text, batch)
		}
		if send(append(text, batch.Lines...)) != nil || err != nil {
			return
		}
		text = nil
	}
}

// appendState appends the state of a batch as the line that a recording has for it.
func appendState(text []byte, batch trace.Batch) []byte {
	var at struct {
		Seq  uint64 `json:"s"`
		Time int64  `json:"t"`
	}
	if err := json.Unmarshal(batch.State, &at); err != nil {
		panic(err) // it is the JSON of a State
	}
	return fmt.Appendf(text, `{"s":%d,"t":%d,"e":"trace.state","skipped":%d,"state":%s}`+"\n", at.Seq, at.Time, batch.Skipped, batch.State)
}
