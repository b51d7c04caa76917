package view

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// Forks starts new runs from the recording that a server shows.
type Forks interface {
	// Inputs returns the inputs of the recording, and why one cannot be forked. It becomes JSON.
	Inputs() (any, error)
	// Fork starts a run that goes on after an input, without another one unless that is 0. It returns
	// the address of its page. The error is a sentence for the reader.
	Fork(at, without int) (address string, err error)
}

// serveInputs sends the inputs; null without Forks.
func (s *Server) serveInputs(w http.ResponseWriter, _ *http.Request) {
	var inputs any
	if s.config.Forks != nil {
		var err error
		if inputs, err = s.config.Forks.Inputs(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(inputs) // an error means that the client has gone
}

// serveFork starts a fork and sends the address of its page. The token keeps other pages from it.
func (s *Server) serveFork(w http.ResponseWriter, r *http.Request) {
	at, wrong := strconv.Atoi(r.FormValue("at"))
	without, alsoWrong := strconv.Atoi(r.FormValue("without"))
	if wrong != nil || alsoWrong != nil {
		http.Error(w, "at and without are numbers of inputs", http.StatusBadRequest)
		return
	}
	address, err := s.config.Forks.Fork(at, without)
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(address)) // an error means that the client has gone
}
