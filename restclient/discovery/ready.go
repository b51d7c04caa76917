package discovery

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

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
	if api.IsForbidden(e.Err) {
		return "the API server forbids to ask whether it is ready (/readyz): it may be starting, and not list all that it serves"
	}
	return "the API server is not ready: it is starting or stopping, and may not list all that it serves"
}

// Unwrap returns the refusal.
func (e *NotReadyError) Unwrap() error { return e.Err }

// refusalIsMeant is for how long a server has to forbid the question until that is taken for the will of whoever set the roles up. A
// kube-apiserver that starts forbids everything that it has not read the role for yet, and reads them one after the other: for a
// moment discovery is allowed, and the question is not. That was seen to end with custom objects left behind.
const refusalIsMeant = 30 * time.Second

// refusals remembers since when a server forbids the question.
type refusals struct {
	mu    sync.Mutex // guards since
	since time.Time  // the first refusal after an answer; zero: the last time there was an answer, or nobody there
}

// areMeant notes a refusal or something else, and tells whether a refusal is meant.
func (r *refusals) areMeant(refused bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !refused:
		r.since = time.Time{}
	case r.since.IsZero():
		r.since = time.Now()
	}
	return refused && time.Since(r.since) >= refusalIsMeant
}

// ready asks the server whether it is. A server that does not have the question, or for long does not answer it to this user, is
// taken for ready: nothing can be found out then.
func (c *Client) ready(ctx context.Context) error {
	err := c.do(ctx, restclient.Request{Path: "/readyz", Accept: "*/*"}, nil)
	if _, refused := errors.AsType[*api.StatusError](err); err != nil && !refused {
		if ctx.Err() == nil {
			c.refusals.areMeant(false) // what comes next may have been started anew
		}
		return err // nobody has answered
	}
	forbidden := api.IsForbidden(err)
	meant := c.refusals.areMeant(forbidden)
	code := api.CodeOf(err)
	switch {
	case err == nil, forbidden && meant:
		return nil
	case !forbidden && code < http.StatusInternalServerError && code != http.StatusTooManyRequests:
		return nil
	}
	return &NotReadyError{Err: err}
}
