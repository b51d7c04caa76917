package apiserver

import (
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// webSocket is a stream over a websocket: one text message per event.
type webSocket struct {
	conn *websocket.Conn
	gone chan struct{} // closed by the reader, which owns it
	done sync.WaitGroup
}

// maxMessage limits messages of the client, which are ignored.
const maxMessage = 4096

// openWebSocket performs the handshake like kube-apiserver's library: it requires an Origin and
// accepts at most one subprotocol, whatever it is.
func openWebSocket(w http.ResponseWriter, r *http.Request) eventStream {
	if !hasOrigin(r) {
		refuseHandshake(w, http.StatusForbidden)
		return nil
	}
	protocols := websocket.Subprotocols(r)
	if len(protocols) > 1 {
		refuseHandshake(w, http.StatusBadRequest)
		return nil
	}
	header := http.Header{}
	if len(protocols) == 1 {
		header.Set("Sec-Websocket-Protocol", protocols[0])
	}
	upgrader := websocket.Upgrader{
		HandshakeTimeout: writeTimeout,
		CheckOrigin:      func(*http.Request) bool { return true },
		WriteBufferPool:  writeBuffers,
		Error:            func(w http.ResponseWriter, _ *http.Request, status int, _ error) { refuseHandshake(w, status) },
	}
	conn, err := upgrader.Upgrade(w, r, header)
	if err != nil {
		return nil
	}
	conn.SetReadLimit(maxMessage)
	s := &webSocket{conn: conn, gone: make(chan struct{})}
	s.done.Go(s.read)
	return s
}

// writeBuffers are shared by all connections, so that idle ones hold none.
var writeBuffers = &sync.Pool{}

func hasOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	_, err := url.ParseRequestURI(origin)
	return origin != "" && err == nil
}

// refuseHandshake answers with a status code only, like kube-apiserver.
func refuseHandshake(w http.ResponseWriter, code int) {
	w.Header().Set("Connection", "close")
	w.WriteHeader(code)
}

// read discards the client's messages. Reading answers pings and notices the end.
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
		s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
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
