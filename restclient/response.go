package restclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Response is an answer with its body read and closed. Give a *Response to Client.Do to get it raw.
type Response struct {
	StatusCode  int
	Header      http.Header
	ContentType string // media type with parameters, as the server sent it
	Body        []byte
}

// readInto reads a complete body into what the caller of Do asked for.
func (x *exchange) readInto(answer *http.Response, into any) error {
	if into == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(answer.Body, int64(x.client.cfg.MaxBodyBytes)))
		return asReadError(err)
	}
	body, err := readBounded(answer.Body, x.client.cfg.MaxBodyBytes)
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *[]byte:
		*into = body
	case *Response:
		*into = Response{
			StatusCode: answer.StatusCode, Header: answer.Header,
			ContentType: answer.Header.Get("Content-Type"), Body: body,
		}
	default:
		if len(body) == 0 && answer.StatusCode == http.StatusNoContent {
			return nil
		}
		return json.Unmarshal(body, into)
	}
	return nil
}

// readBounded reads all of a body that may have at most limit bytes.
func readBounded(r io.Reader, limit int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, asReadError(err)
	}
	if len(body) > limit {
		return nil, &TooLargeError{What: "the body", Limit: limit}
	}
	return body, nil
}

// readError marks an error that came from the connection, as opposed to one about the bytes that arrived.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

func asReadError(err error) error {
	if err == nil {
		return nil
	}
	return &readError{err}
}

// unreadable turns what consume returned into the error that the caller sees.
func (x *exchange) unreadable(ctx context.Context, u *url.URL, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return refused.status
	}
	if read, ok := errors.AsType[*readError](err); ok {
		return x.broken(ctx, u, fmt.Errorf("while reading the answer: %w", read.err))
	}
	return &DecodeError{Verb: x.req.method(), URL: redactURL(u), Err: err}
}
