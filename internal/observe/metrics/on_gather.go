package metrics

import "sync"

// onGather is a list of functions to call when the metrics are read.
type onGather struct {
	mu      sync.Mutex
	updates []func() // guarded by mu; only ever appended to
}

func (o *onGather) add(update func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.updates = append(o.updates, update)
}

func (o *onGather) run() {
	o.mu.Lock()
	updates := o.updates
	o.mu.Unlock()
	for _, update := range updates {
		update()
	}
}
