package stream

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// webSocket is a stream over a websocket: a text message an event.
type webSocket struct {
	conn *websocket.Conn
	gone chan struct{} // closed by the reader, which owns it
	done sync.WaitGroup
}

// largestMessage is how much a client may say at once: there is nothing for it to say.
const largestMessage = 4096

// bearerProtocol begins a subprotocol that is a credential. It has been read, and nobody agrees to it.
const bearerProtocol = "base64url.bearer.authorization.k8s.io."

// openWebSocket shakes hands in the way of kube-apiserver, whose library is made for browsers: no origin, no websocket, and no more
// than one subprotocol, which is agreed to whatever it is.
func openWebSocket(w http.ResponseWriter, r *http.Request) Stream {
	if !hasOrigin(r) {
		refuseHandshake(w, http.StatusForbidden)
		return nil
	}
	protocols := slices.DeleteFunc(websocket.Subprotocols(r), func(protocol string) bool {
		return strings.HasPrefix(protocol, bearerProtocol)
	})
	if len(protocols) > 1 {
		refuseHandshake(w, http.StatusBadRequest)
		return nil
	}
	header := http.Header{}
	if len(protocols) == 1 {
		header.Set("Sec-Websocket-Protocol", protocols[0])
	}
	upgrader := websocket.Upgrader{
		HandshakeTimeout: WriteTimeout,
		CheckOrigin:      func(*http.Request) bool { return true },
		WriteBufferPool:  writeBuffers,
		Error:            func(w http.ResponseWriter, _ *http.Request, status int, _ error) { refuseHandshake(w, status) },
	}
	conn, err := upgrader.Upgrade(w, r, header)
	if err != nil {
		return nil
	}
	conn.SetReadLimit(largestMessage)
	s := &webSocket{conn: conn, gone: make(chan struct{})}
	s.done.Go(s.read)
	return s
}

// writeBuffers are shared by all connections: one that has nothing to send holds none.
var writeBuffers = &sync.Pool{}

func hasOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	_, err := url.ParseRequestURI(origin)
	return origin != "" && err == nil
}

// refuseHandshake answers as the original does, with a code and nothing else.
func refuseHandshake(w http.ResponseWriter, code int) {
	w.Header().Set("Connection", "close")
	w.WriteHeader(code)
}

// read throws away what the client says. Reading answers pings and notices the end.
func (s *webSocket) read() {
	defer close(s.gone)
	for {
		if _, _, err := s.conn.NextReader(); err != nil {
			return
		}
	}
}

func (s *webSocket) Send(frames [][]byte) error {
	for _, frame := range frames {
		s.conn.SetWriteDeadline(time.Now().Add(WriteTimeout))
		if err := s.conn.WriteMessage(websocket.TextMessage, frame); err != nil {
			return err
		}
	}
	return nil
}

func (s *webSocket) Gone() <-chan struct{} { return s.gone }

func (s *webSocket) End() {
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	s.conn.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(time.Second))
	s.close()
}

func (s *webSocket) Abort() { s.close() }

func (s *webSocket) Break() { s.close() }

func (s *webSocket) close() {
	s.conn.Close()
	s.done.Wait()
}
