package apiserver

import (
	"net/http"
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

// openWebSocket performs the handshake and agrees to the first subprotocol, whatever it is.
func openWebSocket(w http.ResponseWriter, r *http.Request) eventStream {
	header := http.Header{}
	if protocols := websocket.Subprotocols(r); len(protocols) > 0 {
		header.Set("Sec-Websocket-Protocol", protocols[0])
	}
	upgrader := websocket.Upgrader{
		HandshakeTimeout: writeTimeout,
		CheckOrigin:      func(*http.Request) bool { return true },
		WriteBufferPool:  writeBuffers,
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
