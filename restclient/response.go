package restclient

import "net/http"

// Response is an answer with its body read and closed. Give a *Response to Client.Do to get it raw.
type Response struct {
	StatusCode  int
	Header      http.Header
	ContentType string // media type with parameters, as the server sent it
	Body        []byte
}
