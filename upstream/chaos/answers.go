package chaos

import (
	"fmt"
	"io"
	"net/http"
)

// answerFault is what a proxy does to answers that knows nothing of Kubernetes. The zero value is nothing.
type answerFault string

const (
	htmlAnswers     answerFault = "html"     // a page of its own in place of an answer, with code 502
	redirects       answerFault = "redirect" // as to a page where one could log in
	emptyAnswers    answerFault = "empty"    // code 200 and nothing, and the server was not asked
	mistypedAnswers answerFault = "mistyped" // the server's answer, called something else
	cutAnswers      answerFault = "cut"      // half of the server's answer, and then the connection or stream breaks
	farewells       answerFault = "farewell" // the answer, and the announcement that the connection is going to be closed (GOAWAY)
)

// replace answers in place of the server, if the fault is one of those that do.
func (a answerFault) replace(w http.ResponseWriter, request *http.Request) bool {
	switch a {
	case htmlAnswers:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = fmt.Fprint(w, "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>chaos/1.0</body></html>")
	case redirects:
		http.Redirect(w, request, "/login?from="+request.URL.Path, http.StatusFound)
	case emptyAnswers:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
	default:
		return false
	}
	return true
}

// spoil does to an answer of the server what the fault says.
func (a answerFault) spoil(response *http.Response) {
	switch a {
	case mistypedAnswers:
		response.Header.Set("Content-Type", "text/html; charset=utf-8")
	case cutAnswers:
		half := response.ContentLength / 2
		if half <= 0 {
			half = 100 // of an answer whose length is not known
		}
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(response.Body, half), errorReader{io.ErrUnexpectedEOF}), response.Body}
	case farewells:
		response.Header.Set("Connection", "close") // which net/http says in HTTP/2 by GOAWAY
	}
}
