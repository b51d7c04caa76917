package discovery

import (
	"context"
	"errors"
	"net/http"

	"orrery/restclient"
	"orrery/restclient/api"
)

// NotReadyError says that the server answers but is starting or stopping: what it lists need not be all that it has.
type NotReadyError struct {
	Err error // what it answered
}

// Error leaves out which part of the server is not ready: the text can be read in conditions, and that changes from one
// moment to the next.
func (e *NotReadyError) Error() string {
	return "the API server is not ready: it is starting or stopping, and may not list all that it serves"
}

// Unwrap returns the refusal.
func (e *NotReadyError) Unwrap() error { return e.Err }

// ready asks the server whether it is. A server that does not have the question, or does not answer it to this user, is
// taken for ready: nothing can be found out then.
func (c *Client) ready(ctx context.Context) error {
	err := c.do(ctx, restclient.Request{Path: "/readyz", Accept: "*/*"}, nil)
	if _, refused := errors.AsType[*api.StatusError](err); !refused {
		return err
	}
	if code := api.CodeOf(err); code < http.StatusInternalServerError && code != http.StatusTooManyRequests {
		return nil
	}
	return &NotReadyError{Err: err}
}
