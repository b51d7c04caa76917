package chaos

import (
	"fmt"
	"io"
	"net/http"
)

// answerFault is a fault of a proxy that does not know Kubernetes. The zero value is none.
type answerFault string

const (
	htmlAnswers     answerFault = "html"     // an HTML page with code 502
	redirects       answerFault = "redirect" // as to a login page
	emptyAnswers    answerFault = "empty"    // code 200 without a body; the server gets no request
	mistypedAnswers answerFault = "mistyped" // the server's answer with another Content-Type
	cutAnswers      answerFault = "cut"      // half of the answer, and then the connection or stream breaks
	farewells       answerFault = "farewell" // the answer, with the announcement that the connection closes (GOAWAY)
)

// replace answers instead of the server, if the fault does so.
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

// spoil applies the fault to an answer of the server.
func (a answerFault) spoil(response *http.Response) {
	switch a {
	case mistypedAnswers:
		response.Header.Set("Content-Type", "text/html; charset=utf-8")
	case cutAnswers:
		half := response.ContentLength / 2
		if half <= 0 {
			half = 100 // for an answer of unknown length
		}
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(response.Body, half), errorReader{io.ErrUnexpectedEOF}), response.Body}
	case farewells:
		response.Header.Set("Connection", "close") // net/http sends GOAWAY for this in HTTP/2
	}
}
