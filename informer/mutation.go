package informer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
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
// The detector is for tests and debugging: it renders every object once per period. It reports
// which object was changed and how; the race detector can report the code.
type MutationDetectorConfig[T any] struct {
	Enabled    bool
	Period     time.Duration               // between two checks of all objects; default one second
	Render     func(obj T) ([]byte, error) // the parts of an object to compare; default json.Marshal
	OnMutation func(err *MutationError)    // is called for each changed object, on the detector's goroutine; default panic
}

func (c MutationDetectorConfig[T]) withDefaults() MutationDetectorConfig[T] {
	if on, err := strconv.ParseBool(os.Getenv(mutationDetectorEnv)); err == nil && on {
		c.Enabled = true
	}
	if c.Period <= 0 {
		c.Period = time.Second
	}
	if c.Render == nil {
		c.Render = func(obj T) ([]byte, error) { return json.Marshal(obj) }
	}
	if c.OnMutation == nil {
		c.OnMutation = func(err *MutationError) { panic(err) }
	}
	return c
}

// MutationError reports that an object of the store was changed.
type MutationError struct {
	Key         string
	Differences []Difference // the fields that changed, at most 20
}

func (e *MutationError) Error() string {
	lines := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		lines[i] = d.String()
	}
	return fmt.Sprintf("object %q of the store was changed: %s", e.Key, strings.Join(lines, "; "))
}

// mutationDetector keeps the text of every object when it enters the store, and compares again
// periodically. A replaced or deleted state is compared once more.
//
// Memory: the text of each object of the store, and of at most maxRetired others.
type mutationDetector[T any] struct {
	config   MutationDetectorConfig[T]
	informer string
	trace    *Trace

	mu      sync.Mutex
	current map[string]*remembered[T]
	retired []*remembered[T] // since the last check
}

// maxRetired bounds the states that wait for their last check; the oldest are dropped unchecked.
const maxRetired = 10_000

// remembered is one state of one object. Only the detector's goroutine changes text and broken.
type remembered[T any] struct {
	key  string
	obj  T
	text []byte
	// broken: the object can no longer be rendered, which was reported.
	broken bool
}

func newMutationDetector[T any](informer string, trace *Trace, config MutationDetectorConfig[T]) *mutationDetector[T] {
	return &mutationDetector[T]{informer: informer, trace: trace, config: config, current: map[string]*remembered[T]{}}
}

// stored records an object. It is called before any reader can see the object.
func (d *mutationDetector[T]) stored(key string, obj T) error {
	text, err := d.config.Render(obj)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retireLocked(key)
	if err != nil {
		return fmt.Errorf("the mutation detector cannot watch the object: %w", err)
	}
	d.current[key] = &remembered[T]{key: key, obj: obj, text: text}
	return nil
}

// deleted retires the state of an object that has left the store.
func (d *mutationDetector[T]) deleted(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retireLocked(key)
}

func (d *mutationDetector[T]) retireLocked(key string) {
	r := d.current[key]
	if r == nil {
		return
	}
	delete(d.current, key)
	if len(d.retired) == maxRetired {
		d.retired = d.retired[1:]
	}
	d.retired = append(d.retired, r)
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

// look compares every recorded state with its object.
func (d *mutationDetector[T]) look() {
	for _, r := range d.takeAll() {
		if err := d.compare(r); err != nil {
			d.report(err)
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

// compare returns an error if the object differs from r, and updates r.
func (d *mutationDetector[T]) compare(r *remembered[T]) *MutationError {
	text, err := d.config.Render(r.obj)
	if err != nil {
		if r.broken {
			return nil
		}
		r.broken = true
		return &MutationError{Key: r.key, Differences: []Difference{{Was: "an object that can be rendered", Is: err.Error()}}}
	}
	if bytes.Equal(text, r.text) {
		return nil
	}
	found := &MutationError{Key: r.key, Differences: diffJSON(r.text, text)}
	r.text = text
	return found
}

func (d *mutationDetector[T]) report(err *MutationError) {
	defer wait.HandleCrash()
	if d.trace.Mutated != nil {
		d.trace.Mutated(d.informer, err)
	}
	d.config.OnMutation(err)
}
