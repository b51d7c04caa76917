package clustertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Killer kills a controller at one of its requests. Lists and watches, which are the informers'
// own, do not count. The zero value kills none.
type Killer struct {
	server http.Handler

	mu       sync.Mutex
	requests int
	at       int // 0: none
	served   bool
	kill     func()
}

// KillAt kills the controller at its request number request, counted from now and from 1: it calls
// kill and sends no response. served says whether the server carries out the request first.
func (k *Killer) KillAt(request int, served bool, kill func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.requests, k.at, k.served, k.kill = 0, request, served, kill
}

// Requests returns the number of requests since the last call of KillAt.
func (k *Killer) Requests() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.requests
}

// ServeHTTP passes a request on to the server.
func (k *Killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+controllerToken ||
		r.Method == http.MethodGet && r.URL.RawQuery != "" {
		k.server.ServeHTTP(w, r)
		return
	}
	k.mu.Lock()
	k.requests++
	last, served, kill := k.requests == k.at, k.served, k.kill
	k.mu.Unlock()
	if !last {
		k.server.ServeHTTP(w, r)
		return
	}
	if served {
		k.server.ServeHTTP(httptest.NewRecorder(), r)
	}
	_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is noticed only after this
	kill()
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// KillStep is the distance between the requests at which a test kills a controller: each of them,
// and with -short every fifteenth. It is odd, because tests change the gears from kill to kill.
func KillStep() int {
	if testing.Short() {
		return 15
	}
	return 1
}
