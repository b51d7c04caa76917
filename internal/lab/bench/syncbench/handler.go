package syncbench

import (
	"net/http"
	"strconv"
	"strings"
)

const jsonType = "application/json"

// ServeHTTP answers an informer's requests for pods.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet || r.URL.Path != "/api/v1/pods":
		refuse(w, http.StatusNotFound, "NotFound", "the server has pods only")
	case !acceptsJSON(r):
		refuse(w, http.StatusNotAcceptable, "NotAcceptable", "the server has JSON only")
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		s.watch(w, r)
	default:
		from, _ := strconv.Atoi(query.Get("continue"))
		s.list(w, from, s.limit(query.Get("limit")))
	}
}

// acceptsJSON reports whether the client accepts JSON.
func acceptsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return accept == "" || strings.Contains(accept, jsonType) || strings.Contains(accept, "*/*")
}

// limit returns the number of items in a page: all of them, as from a watch cache, unless PageSize
// is set.
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
	w.Header().Set("Content-Type", jsonType)
	for _, piece := range s.page(from, limit) {
		for len(piece) > 0 { // in pieces, to notice a closed connection
			n := min(len(piece), 1<<20)
			if _, err := w.Write(piece[:n]); err != nil {
				return
			}
			piece = piece[n:]
		}
	}
}

// watch refuses streaming lists. Other watches stay open without events: a benchmark ends before a
// bookmark is due.
func (s *store) watch(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		refuse(w, http.StatusUnprocessableEntity, "Invalid",
			"ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
		return
	}
	w.Header().Set("Content-Type", jsonType)
	if http.NewResponseController(w).Flush() == nil {
		<-r.Context().Done()
	}
}

// refuse answers with a Status.
func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(code)
	w.Write([]byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":`))
	w.Write(mustMarshal(message))
	w.Write([]byte(`,"reason":"` + reason + `","code":` + strconv.Itoa(code) + "}\n"))
}
