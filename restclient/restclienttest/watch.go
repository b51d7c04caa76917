package restclienttest

import (
	"encoding/json"
	"net/http"

	"github.com/gorilla/websocket"

	"orrery/restclient/api"
)

// Stream is a watch from the server's side.
type Stream struct {
	r    *http.Request
	w    http.ResponseWriter
	ws   *websocket.Conn // nil: chunked HTTP
	gone chan struct{}   // closed when the other end of ws is closed
}

// ServeWatch accepts a watch, over websocket if the request asks for one, and calls serve to send
// the events. The stream ends normally when serve returns. Like kube-apiserver it answers 403 to a
// websocket request without an Origin, and answers pings at any time.
func ServeWatch(w http.ResponseWriter, r *http.Request, serve func(*Stream)) {
	s := &Stream{r: r, w: w}
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		s.Flush()
		serve(s)
		return
	}
	if r.Header.Get("Origin") == "" {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s.ws, s.gone = ws, make(chan struct{})
	go s.listen()
	defer func() {
		ws.Close()
		<-s.gone
	}()
	serve(s)
	ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
}

// Send sends one event with object encoded as JSON.
func (s *Stream) Send(kind api.WatchEventType, object any) error {
	data, err := json.Marshal(struct {
		Type   api.WatchEventType `json:"type"`
		Object any                `json:"object"`
	}{kind, object})
	if err != nil {
		return err
	}
	return s.SendRaw(append(data, '\n'))
}

// SendRaw sends bytes as they are; over websocket as one text message, as kube-apiserver does
// for JSON.
func (s *Stream) SendRaw(data []byte) error {
	if s.ws == nil {
		_, err := s.w.Write(data)
		s.Flush()
		return err
	}
	return s.ws.WriteMessage(websocket.TextMessage, data)
}

// Flush sends buffered data.
func (s *Stream) Flush() {
	if flusher, ok := s.w.(http.Flusher); ok && s.ws == nil {
		flusher.Flush()
	}
}

// Break closes the connection without a closing handshake. Call it last: over HTTP it panics with
// http.ErrAbortHandler.
func (s *Stream) Break() {
	if s.ws != nil {
		s.ws.NetConn().Close()
		return
	}
	panic(http.ErrAbortHandler)
}

// listen reads pings and the close message of a websocket client.
func (s *Stream) listen() {
	defer close(s.gone)
	for {
		if _, _, err := s.ws.ReadMessage(); err != nil {
			return
		}
	}
}

// Wait blocks until the client disconnects. (The request context of a hijacked connection does not
// end by itself.)
func (s *Stream) Wait() {
	if s.ws == nil {
		<-s.r.Context().Done()
		return
	}
	<-s.gone
}
