package view

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// History is a run so far. Its methods may be called from any goroutine and never wait.
type History interface {
	// Cursor returns a cursor that starts about back events before the newest, or at the oldest that
	// is kept.
	Cursor(back int) Cursor
}

// Cursor is one reader's place in a history. It belongs to one goroutine.
type Cursor interface {
	// Next returns the lines since the last call, whole and with their line ends; empty if there is
	// none yet. The first lines are a header and a state. Skipped counts the events that were
	// forgotten before the cursor reached them; then a new state comes first. Ended reports that
	// nothing follows.
	Next() (lines []byte, skipped uint64, ended bool)
}

const (
	batchPeriod  = 50 * time.Millisecond
	pingPeriod   = 20 * time.Second
	writeTimeout = 5 * time.Second
	mostClients  = 8
	eventsBack   = 20_000
	mostIncoming = 512 // bytes of a message from a page, which has nothing to say
)

// hub sends a history to its clients, each with a cursor and a goroutine of its own.
type hub struct {
	history History
	upgrade websocket.Upgrader
	ctx     context.Context // ends with the server
	end     context.CancelFunc
	running sync.WaitGroup // the goroutines of clients

	mu      sync.Mutex
	clients int // guarded by mu; no more after the end of ctx
}

func newHub(history History) *hub {
	ctx, end := context.WithCancel(context.Background())
	return &hub{
		history: history, ctx: ctx, end: end,
		// hostcheck has compared the Origin with the Host.
		upgrade: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
	}
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
}

// serveSocket sends the history over a websocket until one of the two ends.
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
	h.running.Go(func() { // answers the client's control messages, and notices its end
		defer cancel()
		conn.SetReadLimit(mostIncoming)
		for {
			if _, _, err := conn.NextReader(); err != nil {
				return
			}
		}
	})
	pings := time.NewTicker(pingPeriod)
	defer pings.Stop()
	h.follow(ctx, pings.C, func(lines []byte) error {
		_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
		if lines == nil {
			return conn.WriteMessage(websocket.PingMessage, nil)
		}
		return conn.WriteMessage(websocket.TextMessage, lines)
	})
	_ = conn.WriteControl( // an error means that the client has gone
		websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "the program has stopped"), time.Now().Add(writeTimeout))
}

// serveLines sends the history as lines, for programs.
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
	h.follow(ctx, nil, func(lines []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write(lines); err != nil {
			return err
		}
		return control.Flush()
	})
}

// follow sends what happens, in batches, until the run ends or a send fails. On a tick of pings it
// sends nil. When ctx ends, it sends what has happened so far.
func (h *hub) follow(ctx context.Context, pings <-chan time.Time, send func(lines []byte) error) {
	cursor := h.history.Cursor(eventsBack)
	batches := time.NewTicker(batchPeriod)
	defer batches.Stop()
	for {
		last := ctx.Err() != nil
		lines, _, ended := cursor.Next()
		if len(lines) > 0 && send(lines) != nil || last || ended {
			return
		}
		if len(lines) > 0 {
			continue // until there is nothing more
		}
		select {
		case <-ctx.Done():
		case <-pings:
			if send(nil) != nil {
				return
			}
		case <-batches.C:
		}
	}
}
