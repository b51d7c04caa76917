package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// NotReadyError reports that the server is starting or stopping: its resources may be incomplete.
type NotReadyError struct {
	Err error // the server's answer
}

// Error does not name the part of the server that is not ready: the text ends up in conditions, and
// that part changes often.
func (e *NotReadyError) Error() string {
	if api.IsForbidden(e.Err) {
		return "the API server forbids to ask whether it is ready (/readyz): it may be starting, and not list all " +
			"that it serves"
	}
	return "the API server is not ready: it is starting or stopping, and may not list all that it serves"
}

func (e *NotReadyError) Unwrap() error { return e.Err }

// refusalIsMeant is how long a server must forbid the question until the refusal counts as its
// configuration. A starting kube-apiserver forbids everything until it has read the role for it. In
// tests, custom objects were left behind because of that.
const refusalIsMeant = 30 * time.Second

// refusals records since when a server forbids the question.
type refusals struct {
	mu    sync.Mutex
	since time.Time // the first refusal after another result; zero: the last request was not refused
}

// areMeant records an answer, and reports whether it is a refusal that counts.
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

// ready asks the server whether it is ready. A server without /readyz, or one that has long
// forbidden it to this user, counts as ready.
func (c *Client) ready(ctx context.Context) error {
	err := c.do(ctx, restclient.Request{Path: "/readyz", Accept: "*/*"}, nil)
	if _, refused := errors.AsType[*api.StatusError](err); err != nil && !refused {
		if ctx.Err() == nil {
			c.refusals.areMeant(false) // the next server may have been restarted
		}
		return err // no answer
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

// ErrGroupDiscoveryFailed reports that some group versions could not be discovered. It does not
// unwrap its causes: one group that was not found must not make api.IsNotFound true.
type ErrGroupDiscoveryFailed struct{ Groups map[api.GroupVersion]error }

// Error lists the group versions in order: the text ends up in the conditions of a namespace.
func (e *ErrGroupDiscoveryFailed) Error() string {
	texts := make([]string, 0, len(e.Groups))
	for gv, err := range e.Groups {
		texts = append(texts, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(texts)
	return "unable to retrieve the complete list of server APIs: " + strings.Join(texts, ", ")
}

// StaleGroupVersionError reports that the aggregating server has no current answer for a group
// version: usually its APIService has no backend.
type StaleGroupVersionError struct{ GroupVersion api.GroupVersion }

func (e *StaleGroupVersionError) Error() string {
	return "stale GroupVersion discovery: " + e.GroupVersion.String()
}

// unexpected returns the error of an answer that is not a discovery document.
func unexpected(path string, err error) error {
	return &restclient.DecodeError{Verb: http.MethodGet, URL: path, Err: err}
}
