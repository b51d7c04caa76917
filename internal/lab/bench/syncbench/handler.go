package syncbench

import (
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"

	bookmarkEvery = time.Minute
)

// ServeHTTP answers the requests of an informer about pods.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet || r.URL.Path != "/api/v1/pods":
		refuse(w, http.StatusNotFound, "NotFound", "the server has pods only")
	case !s.accepted(r):
		refuse(w, http.StatusNotAcceptable, "NotAcceptable", "the server has "+string(s.cfg.Format)+" only")
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		s.watch(w, r)
	default:
		from, _ := strconv.Atoi(query.Get("continue"))
		s.list(w, from, s.limit(query.Get("limit")))
	}
}

// accepted tells whether the client reads what the server has.
func (s *store) accepted(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if s.cfg.Format == Protobuf {
		return strings.Contains(accept, protobufType)
	}
	return accept == "" || strings.Contains(accept, jsonType) || strings.Contains(accept, "*/*")
}

// limit is how many items a page has: all of them, as from a watch cache, unless the server has none.
func (s *store) limit(asked string) int {
	n, _ := strconv.Atoi(asked)
	if n <= 0 || s.cfg.PageSize == 0 {
		return 0
	}
	return min(n, s.cfg.PageSize)
}

func (s *store) list(w http.ResponseWriter, from, limit int) {
	if from < 0 || from > s.cfg.Objects {
		refuse(w, http.StatusBadRequest, "BadRequest", "continue key is not valid")
		return
	}
	w.Header().Set("Content-Type", s.contentType())
	for _, piece := range s.page(from, limit) {
		for len(piece) > 0 { // in pieces, so that the client's end is noticed
			n := min(len(piece), 1<<20)
			if _, err := w.Write(piece[:n]); err != nil {
				return
			}
			piece = piece[n:]
		}
	}
}

func (s *store) contentType() string {
	if s.cfg.Format == Protobuf {
		return protobufType
	}
	return jsonType
}

// watch stays open, and says once a minute that nothing has happened.
func (s *store) watch(w http.ResponseWriter, r *http.Request) {
	initial := r.URL.Query().Get("sendInitialEvents") == "true"
	if initial && !s.cfg.Streaming {
		refuse(w, http.StatusUnprocessableEntity, "Invalid",
			"ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
		return
	}
	contentType := s.contentType()
	if s.cfg.Format == Protobuf {
		contentType += ";stream=watch"
	}
	w.Header().Set("Content-Type", contentType)
	flush := http.NewResponseController(w).Flush
	if initial {
		for i := range s.cfg.Objects {
			if _, err := w.Write(s.frame("ADDED", s.item(i))); err != nil {
				return
			}
		}
		w.Write(s.frame("BOOKMARK", s.bookmark(true)))
	}
	ticker := time.NewTicker(bookmarkEvery)
	defer ticker.Stop()
	for flush() == nil {
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
			w.Write(s.frame("BOOKMARK", s.bookmark(false)))
		}
	}
}

// frame puts an object into a watch event.
func (s *store) frame(event string, object []byte) []byte {
	if s.cfg.Format != Protobuf {
		frame := append([]byte(`{"type":"`+event+`","object":`), object...)
		return append(frame, "}\n"...)
	}
	head, tail := envelope("meta.k8s.io/v1", "PartialObjectMetadata", len(object))
	whole := append(append(head, object...), tail...)
	message := appendMessage(appendString(nil, 1, event), 2, appendMessage(nil, 1, whole))
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

func (s *store) bookmark(end bool) []byte {
	if s.cfg.Format == Protobuf {
		meta := appendString(nil, 6, listVersion)
		if end {
			meta = appendMapProtobuf(meta, 12, map[string]string{"k8s.io/initial-events-end": "true"})
		}
		return appendMessage(nil, 1, meta)
	}
	annotations := ""
	if end {
		annotations = `,"annotations":{"k8s.io/initial-events-end":"true"}`
	}
	return []byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"` + listVersion + `"` + annotations + `}}`)
}

// refuse answers with a Status.
func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(code)
	w.Write([]byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":`))
	w.Write(jsonQuoted(message))
	w.Write([]byte(`,"reason":"` + reason + `","code":` + strconv.Itoa(code) + "}\n"))
}
