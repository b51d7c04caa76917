package informer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"orrery/wait"
)

// mutationDetectorEnv is the environment variable that switches the detector on for every informer
// created while it is true, as in client-go.
const mutationDetectorEnv = "KUBE_CACHE_MUTATION_DETECTOR"

// MutationDetectorConfig configures the detection of code that changes objects of the store, which
// all readers share. The zero value is off, unless the environment variable is true.
//
// The detector is for tests and debugging: it compares the JSON of every object once per period. It
// reports which object was changed and how; the race detector can report the code.
type MutationDetectorConfig struct {
	Enabled    bool
	Period     time.Duration            // between two checks of all objects; default one second
	OnMutation func(err *MutationError) // is called for each changed object, on the detector's goroutine; default panic
}

func (c MutationDetectorConfig) withDefaults() MutationDetectorConfig {
	if on, err := strconv.ParseBool(os.Getenv(mutationDetectorEnv)); err == nil && on {
		c.Enabled = true
	}
	if c.Period <= 0 {
		c.Period = time.Second
	}
	if c.OnMutation == nil {
		c.OnMutation = func(err *MutationError) { panic(err) }
	}
	return c
}

// MutationError reports that an object of the store was changed.
type MutationError struct {
	Key     string
	Was, Is string // its JSON before and after, which may be that of a Secret
}

func (e *MutationError) Error() string {
	return fmt.Sprintf("object %q of the store was changed: %s became %s", e.Key, e.Was, e.Is)
}

// mutationDetector keeps the text of every object when it enters the store, and compares again
// periodically. A replaced or deleted state is compared once more.
type mutationDetector[T any] struct {
	config   MutationDetectorConfig
	informer string
	trace    *Trace

	mu      sync.Mutex
	current map[string]*remembered[T]
	retired []*remembered[T] // since the last check
}

// remembered is one state of one object. Only the detector's goroutine changes text.
type remembered[T any] struct {
	key  string
	obj  T
	text []byte
}

func newMutationDetector[T any](informer string, trace *Trace, config MutationDetectorConfig) *mutationDetector[T] {
	return &mutationDetector[T]{informer: informer, trace: trace, config: config, current: map[string]*remembered[T]{}}
}

// stored records an object. It is called before any reader can see the object.
func (d *mutationDetector[T]) stored(key string, obj T) {
	text := render(obj)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retireLocked(key)
	d.current[key] = &remembered[T]{key: key, obj: obj, text: text}
}

// render returns the JSON of an object, or why it has none.
func render(obj any) []byte {
	text, err := json.Marshal(obj)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// deleted retires the state of an object that has left the store.
func (d *mutationDetector[T]) deleted(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retireLocked(key)
}

func (d *mutationDetector[T]) retireLocked(key string) {
	if r := d.current[key]; r != nil {
		delete(d.current, key)
		d.retired = append(d.retired, r)
	}
}

// run checks every period until ctx ends, and once more then, for short programs. The informer owns
// its goroutine.
func (d *mutationDetector[T]) run(ctx context.Context) {
	ticker := time.NewTicker(d.config.Period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			d.look()
		case <-ctx.Done():
			d.look()
			return
		}
	}
}

// look compares every recorded state with its object, and reports each change once.
func (d *mutationDetector[T]) look() {
	for _, r := range d.takeAll() {
		if text := render(r.obj); !bytes.Equal(text, r.text) {
			d.report(&MutationError{Key: r.key, Was: string(r.text), Is: string(text)})
			r.text = text
		}
	}
}

// takeAll returns the states to check, and drops the retired ones.
func (d *mutationDetector[T]) takeAll() []*remembered[T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.retired
	d.retired = nil
	for _, r := range d.current {
		all = append(all, r)
	}
	return all
}

func (d *mutationDetector[T]) report(err *MutationError) {
	defer wait.HandleCrash()
	if d.trace.Mutated != nil {
		d.trace.Mutated(d.informer, err)
	}
	d.config.OnMutation(err)
}
