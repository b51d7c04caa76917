package web

import (
	"context"
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
	writeTimeout = 5 * time.Second // a client has to have read what is sent
	eventsBack   = 20_000
	mostIncoming = 512 // bytes of a message from a page
)

// stopped is why the connections end with the server.
const stopped = "the program has stopped"

// hub sends a run to its clients, each with a cursor and a goroutine of its own.
type hub struct {
	source  Source
	control *controls // nil: pages only look
	upgrade websocket.Upgrader
	ctx     context.Context // ends with the server
	end     context.CancelFunc
	running sync.WaitGroup // the goroutines of clients

	mu sync.Mutex // held while a client enters, so that none does after the end of ctx
}

func newHub(source Source, control Control) *hub {
	ctx, end := context.WithCancel(context.Background())
	h := &hub{
		source: source, ctx: ctx, end: end,
		// program.Guard has compared the Origin with the Host.
		upgrade: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
	}
	if control != nil {
		h.control = newControls(control)
	}
	return h
}

// enter admits a client, which the caller must take off running. It reports false after the end.
func (h *hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	h.running.Add(1)
	return true
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
	conn, err := h.upgrade.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer conn.Close()
	conn.SetReadLimit(mostIncoming)
	if !h.enter() {
		return
	}
	defer h.running.Done()
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
	if h.control != nil {
		h.running.Go(func() { h.control.tell(ctx, errs, send) })
	}
	h.follow(ctx, send)
	_ = conn.WriteControl( // an error means that the client has gone
		websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, stopped),
		time.Now().Add(writeTimeout))
}

// serveLines sends the run as lines, for programs.
func (h *hub) serveLines(w http.ResponseWriter, r *http.Request) {
	if !h.enter() {
		http.Error(w, stopped, http.StatusServiceUnavailable)
		return
	}
	defer h.running.Done()
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

// follow sends a recording of the run from now on, until the run ends or a send fails: a header, a
// state, and what happens. When ctx ends, it still sends all that has happened.
func (h *hub) follow(ctx context.Context, send func(lines []byte) error) {
	cursor := h.source.History().Cursor(eventsBack)
	for text := append(encoded(h.source.Header()), '\n'); ; text = nil {
		lines, err := cursor.Next(ctx)
		if err != nil || send(append(text, lines...)) != nil {
			return
		}
	}
}
