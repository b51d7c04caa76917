package controller

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"orrery/queue"
	"orrery/wait"
)

// PoolSnapshot is the state of a pool, as plain data.
type PoolSnapshot struct {
	// Active has the start of each running pass, by key.
	Active map[string]time.Time
	// Queue is the state of the work queue.
	Queue queue.Snapshot[string]
}

// activePasses has when each running pass began, by key.
type activePasses struct {
	mu    sync.Mutex
	began map[string]time.Time
}

func (a *activePasses) begin(key string) (began time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	began = time.Now()
	a.began[key] = began
	return began
}

func (a *activePasses) end(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.began, key)
}

func (a *activePasses) all() map[string]time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.began)
}

// overdue returns an error if a pass began more than twice its time limit ago. A negative limit is
// none.
func (a *activePasses) overdue(limit time.Duration) error {
	if limit < 0 {
		return nil
	}
	for key, began := range a.all() {
		if took := time.Since(began); took > 2*limit {
			return fmt.Errorf("the pass of %s has been under way for %v", key, took.Round(time.Second))
		}
	}
	return nil
}

// StuckAfter is how long a pass may run before [PoolTrace].PassStuck is called.
const StuckAfter = time.Minute

// watchPass calls a hook, which may be nil, when a pass that begins now has been running for
// StuckAfter, and again whenever that time has doubled. The returned function stops this, and waits
// for a call in progress.
func watchPass(stuck func(key string, running time.Duration, waiting int), key string,
	waiting func() int) (end func()) {
	if stuck == nil {
		return func() {}
	}
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		began := time.Now()
		for mark := StuckAfter; ; mark *= 2 {
			select {
			case <-over:
				return
			case <-time.After(mark - time.Since(began)):
				func() {
					defer wait.HandleCrash()
					stuck(key, mark, waiting())
				}()
			}
		}
	})
	return func() {
		close(over)
		watching.Wait()
	}
}
