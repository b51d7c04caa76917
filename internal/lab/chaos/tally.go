package chaos

import (
	"sync"
	"time"

	"orrery/informer/reflector"
	"orrery/restclient"
)

// tally counts what happens in a run.
type tally struct {
	mu      sync.Mutex // guards all below
	faults  map[string]int
	lists   int
	watches int
	retries int
}

func newTally() *tally { return &tally{faults: map[string]int{}} }

func (t *tally) fault(kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults[kind]++
}

func (t *tally) reflector() *reflector.Trace {
	return &reflector.Trace{
		Listed: func(reflector.ListInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.lists++
		},
	}
}

func (t *tally) client() *restclient.Trace {
	return &restclient.Trace{
		Retry: func(restclient.RequestInfo, time.Duration, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.retries++
		},
		WatchOpened: func(restclient.RequestInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.watches++
		},
	}
}
