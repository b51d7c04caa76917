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

// refusalIsMeant is how long a server must forbid the question until the refusal is taken as its configuration. A kube-apiserver
// that starts forbids everything that it has not read the role for yet, and reads the roles one by one: for a moment discovery is
// allowed, and the question is not. That was seen to end with custom objects left behind.
const refusalIsMeant = 30 * time.Second

// refusals remembers since when a server forbids the question.
type refusals struct {
	mu    sync.Mutex // guards since
	since time.Time  // the first refusal after an answer; zero: the last request was answered, or found no server
}

// areMeant records an answer, and reports whether it is a refusal that is meant.
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

// ready asks the server whether it is ready. A server that does not have the question, or has long forbidden it to this user, counts
// as ready: nothing can be found out then.
func (c *Client) ready(ctx context.Context) error {
	err := c.do(ctx, restclient.Request{Path: "/readyz", Accept: "*/*"}, nil)
	if _, refused := errors.AsType[*api.StatusError](err); err != nil && !refused {
		if ctx.Err() == nil {
			c.refusals.areMeant(false) // what comes next may have been started anew
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

// ErrGroupDiscoveryFailed says that some group versions could not be discovered. It comes beside what could be. It does
// not unwrap to its causes, which are many: that one group was not found must not make api.IsNotFound true of the whole.
type ErrGroupDiscoveryFailed struct {
	Groups map[api.GroupVersion]error
}

// Error lists the group versions in order. The text is that of Kubernetes, because it can be read in the conditions of
// a namespace: it must be the same each time that the same groups fail.
func (e *ErrGroupDiscoveryFailed) Error() string {
	texts := make([]string, 0, len(e.Groups))
	for gv, err := range e.Groups {
		texts = append(texts, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(texts)
	return "unable to retrieve the complete list of server APIs: " + strings.Join(texts, ", ")
}

// StaleGroupVersionError says that the server which aggregates discovery has no current answer for a group version:
// usually the APIService behind it points at something that is not there.
type StaleGroupVersionError struct {
	GroupVersion api.GroupVersion
}

func (e *StaleGroupVersionError) Error() string {
	return "stale GroupVersion discovery: " + e.GroupVersion.String()
}

// UnexpectedAnswerError says that the server answered with something that is no discovery document.
type UnexpectedAnswerError struct {
	Path string
	Err  error
}

func (e *UnexpectedAnswerError) Error() string {
	return fmt.Sprintf("the server's answer to GET %s is no discovery document: %v", e.Path, e.Err)
}

func (e *UnexpectedAnswerError) Unwrap() error { return e.Err }

// withoutAttempts takes off how often a request was repeated: that number must not get into the text of a condition.
func withoutAttempts(err error) error {
	if attempts, ok := errors.AsType[*restclient.AttemptsError](err); ok {
		return attempts.Err
	}
	return err
}
