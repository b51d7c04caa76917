package apiserver

import (
	"crypto/rand"
	"errors"
	"net/http"
	"runtime/debug"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
)

// handler serves every request: authentication, authorization, faults, routing.
type handler struct{ server *Server }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(h.server, w, r)
	if !h.server.running.enter() {
		x.refuse(apierrors.ServiceUnavailable("the server is shutting down"))
		return
	}
	defer h.server.running.leave()
	h.server.inFlight.Add(1)
	defer h.server.inFlight.Add(-1)
	begun := time.Now()
	release, err := x.limitTime()
	defer release()
	x.limitBody()
	defer func() {
		broken := x.recover(recover())
		h.server.count(x, time.Since(begun))
		if broken {
			panic(http.ErrAbortHandler)
		}
	}()
	x.w.Header().Set("Cache-Control", "no-cache, private")
	x.w.Header().Set("Audit-Id", rand.Text())
	if err == nil {
		err = x.serve()
	}
	switch {
	case err == nil:
	case x.late() && !x.w.begun():
		x.timedOut()
	default:
		x.refuse(err)
	}
}

// recover answers 500 after a panic. If the answer has begun it reports that the connection must
// break, so that the client does not take a part for the whole.
func (x *exchange) recover(value any) (broken bool) {
	if value == nil {
		return false
	}
	if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return x.w.code != http.StatusSwitchingProtocols
	}
	x.server.panics.Add(1)
	x.server.trace.panicked(x.describe(), value, debug.Stack())
	if x.w.begun() {
		return x.w.code != http.StatusSwitchingProtocols
	}
	x.refuse(apierrors.InternalError(errPanicked))
	return false
}

var errPanicked = errors.New("a handler panicked; see the log of the server")

// serve answers the request or returns the error to answer with.
func (x *exchange) serve() error {
	user, err := x.server.authenticate(x.r)
	if err != nil {
		return apierrors.Unauthorized()
	}
	if x.user, err = impersonate(user, x.r.Header); err != nil {
		return err
	}
	x.server.trace.requestStarted(x.describe())
	if refused := x.server.authorize(x.user, x.fault()); refused != nil {
		x.w.Header().Set("X-Content-Type-Options", "nosniff")
		return refused
	}
	if !x.isExempt() {
		if refused := x.server.faults.Before(x.r.Context(), x.fault()); refused != nil {
			return refused
		}
	}
	if err := x.r.Context().Err(); err != nil {
		return err
	}
	return x.route()
}
