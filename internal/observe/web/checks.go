package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// named is a list of parts of the process, in the order in which they were added. Its methods may
// be called from any goroutine.
type named[T any] struct {
	mu   sync.Mutex
	list []entry[T] // guarded by mu; only ever appended to
}

type entry[T any] struct {
	name string
	call T
}

func (n *named[T]) add(name string, call T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, entry[T]{name, call})
}

func (n *named[T]) all() []entry[T] {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list
}

// checks is a health endpoint, under one or several names. Its answers have the form of
// kube-apiserver's, except that they give the reason of a failure.
type checks struct{ named[func() error] }

// newChecks returns an endpoint with the check "ping", which always passes.
func newChecks() *checks {
	c := &checks{}
	c.add("ping", func() error { return nil })
	return c
}

// ServeHTTP answers /NAME with all checks, and /NAME/CHECK with one.
func (c *checks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, one, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	report, failed := "", false
	for _, check := range c.all() {
		if one != "" && check.name != one {
			continue
		}
		err := check.call()
		switch {
		case err != nil && one != "":
			sendText(w, http.StatusInternalServerError, fmt.Sprintf("internal server error: %v\n", err))
			return
		case err != nil:
			report += fmt.Sprintf("[-]%s failed: %v\n", check.name, err)
			failed = true
		default:
			report += fmt.Sprintf("[+]%s ok\n", check.name)
		}
	}
	switch {
	case report == "":
		sendText(w, http.StatusNotFound, name+" has no check of that name\n")
	case failed:
		sendText(w, http.StatusInternalServerError, report+name+" check failed\n")
	case one == "" && r.URL.Query().Has("verbose"):
		sendText(w, http.StatusOK, report+name+" check passed\n")
	default:
		sendText(w, http.StatusOK, "ok")
	}
}
