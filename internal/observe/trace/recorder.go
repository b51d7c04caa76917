package trace

import (
	"strings"
	"sync"
	"time"
)

// capacity is how many events the Recorder's buffer holds.
const capacity = 65536

// Recorder takes the events of the gears. Its adapters, such as [Recorder.Queue], return the hooks
// for them; each may be called more than once. A nil Recorder returns nil hooks.
type Recorder struct {
	start     time.Time
	collector *collector

	mu      sync.Mutex        // a leaf: nothing is called and nothing waits while it is held
	records []record          // guarded by mu; never longer than its capacity
	lost    map[string]uint64 // guarded by mu; by gear; nil: none

	wake, full chan struct{} // the buffer is no longer empty; it is half full
	stop, done chan struct{}
	stopOnce   sync.Once
}

// Config configures a Recorder. The zero value records for the History only.
type Config struct {
	// Header describes the run; Start sets Version, Schema, Start and an empty Clock.
	Header Header
	// File is the recording, "" for none; ".gz" is compressed. Limit is how many bytes FILE and FILE.1
	// may have together; 0: DefaultLimit.
	File  string
	Limit int64
}

// record is an event as a hook left it. What the fields from a on mean depends on the hook; see
// fills.
type record struct {
	hook        string // the name of the event; "": it was emitted early
	at          int64  // ns since the start
	in, key, rv string
	n, m        int64
	took        time.Duration
	num         uint64
	err         error

	a, b, c string
	x       int64
	id      uint64
	yes     bool
}

// Start starts a Recorder. It fails if a file cannot be created. The caller must call Stop.
func Start(config Config) (*Recorder, error) { return start(config, capacity) }

// start starts a Recorder with a buffer of this many events.
func start(config Config, capacity int) (*Recorder, error) {
	r := &Recorder{
		start: time.Now(), records: make([]record, 0, capacity),
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	var err error
	if r.collector, err = newCollector(config, r.start, capacity); err != nil {
		return nil, err
	}
	go r.run()
	return r, nil
}

// put copies an event into the buffer, or counts it as lost if the buffer is full. It never waits
// for the collector.
func (r *Recorder) put(e record) {
	r.mu.Lock()
	n, most := len(r.records), cap(r.records)
	if n == most {
		if r.lost == nil {
			r.lost = map[string]uint64{}
		}
		gear, _, _ := strings.Cut(e.hook, ".")
		r.lost[gear]++
		r.mu.Unlock()
		return
	}
	e.at = int64(time.Since(r.start)) // under the lock, so that it never goes back
	r.records = append(r.records, e)
	r.mu.Unlock()
	switch n {
	case 0:
		signal(r.wake)
	case most / 2:
		signal(r.full)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// numbered reports whether an event has a number of its queue.
func numbered(e *record) bool { return e.id > 0 && strings.HasPrefix(e.hook, "queue.") }

// swap returns the buffered events and the number of lost ones, and leaves the empty buffer spare.
func (r *Recorder) swap(spare []record) (records []record, lost map[string]uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	records, lost = r.records, r.lost
	r.records, r.lost = spare[:0], nil
	return records, lost
}

// interval is how often the collector looks while events come.
const interval = 50 * time.Millisecond

// run is the collector's goroutine. It sleeps while there are no events.
func (r *Recorder) run() {
	defer close(r.done)
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		if !r.collector.waits() {
			select {
			case <-r.wake:
			case <-r.stop:
				return
			}
		}
		timer.Reset(interval)
		select {
		case <-timer.C:
		case <-r.full:
		case <-r.stop:
			return
		}
		r.collector.collect(r, false)
	}
}

// Flush collects what was recorded before the call, except events of a queue of which an earlier
// one is missing.
func (r *Recorder) Flush() { r.collector.collect(r, false) }

// Stop records what is left and trace.end with this reason, closes the files, and ends the
// collector. Later events are dropped. Only the first call has an effect.
func (r *Recorder) Stop(reason string) {
	if r == nil {
		return
	}
	r.stopOnce.Do(func() {
		close(r.stop)
		<-r.done
		r.collector.collect(r, true)
		r.collector.end(reason)
	})
}

// Watch calls before and after with every later event, in order. The State is the one before the
// event; it changes in place before after is called. Both must be quick, keep nothing, and not call
// the Recorder.
func (r *Recorder) Watch(before func(*Event, *State), after func(*Event)) {
	r.Flush()
	r.Read(func(*State) { r.collector.before, r.collector.after = before, after })
}

// Read calls read with the present State, which does not change meanwhile. read must be quick, keep
// nothing, and not call the Recorder.
func (r *Recorder) Read(read func(*State)) {
	r.collector.mu.Lock()
	defer r.collector.mu.Unlock()
	read(r.collector.state)
}

// History returns the latest events, for readers that follow.
func (r *Recorder) History() *History { return r.collector.history }

// Header returns the first line of the recording.
func (r *Recorder) Header() Header { return r.collector.header }

// State returns a copy of the present state, after a Flush.
func (r *Recorder) State() *State {
	r.Flush()
	var copied *State
	r.Read(func(s *State) { copied = s.Clone() })
	return copied
}

// Err returns the error that ended the recording, nil if there was none. After one of the file the
// History goes on; lost events end it, too. The run always goes on.
func (r *Recorder) Err() error { return r.collector.err() }
