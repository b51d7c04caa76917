package events

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Recorder records Kubernetes Events. [Start] returns a new one. Its methods may be called from any
// goroutine.
type Recorder struct {
	config  Config
	waiting chan note // closed by Stop
	abort   context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended

	// Used by the goroutine only.
	correlator *correlator
	suppressed map[string]time.Time // until when nothing is sent to a namespace

	// mu guards the fields below.
	mu       sync.Mutex
	stopped  bool
	lastName int64 // the number in the last name, in nanoseconds
	recorded int64
	dropped  map[Drop]int64
}

// EventRecorder is the part of a [Recorder] that its users need.
type EventRecorder interface {
	Event(ctx context.Context, object api.ObjectReference, kind api.EventType, reason, message string)
}

// note is an Event that has not been sent.
type note struct {
	ctx   context.Context // for its values; it never ends
	event *api.Event
}

// Config is what a recorder needs. Client and Component are required.
type Config struct {
	// Client sends the Events, within its rate limit.
	Client *restclient.Client
	// Component is the name of the program.
	Component string
	// Instance distinguishes this process from others with that name. Default: none.
	Instance string
	// Trace is told of lost Events. Default: none.
	Trace *Trace
}

// Trace is a set of hooks that are called as a [Recorder] works. The pointer and each hook may be
// nil. Hooks must not block. The context has the values of the one that was passed to Event.
type Trace struct {
	// Dropped: the Event will not be recorded; err is the server's answer to it, or nil.
	Dropped func(ctx context.Context, event *api.Event, why Drop, err error)
}

// Drop is why an Event was not recorded.
type Drop string

// The reasons for which an Event is not recorded.
const (
	DropQueueFull Drop = "queue full" // too many were waiting
	DropLimited   Drop = "limited"    // too many about this object
	DropForbidden Drop = "forbidden"  // the server forbids it, or has forbidden it within SuppressPause
	DropRefused   Drop = "refused"    // the server has rejected this one
	DropGivenUp   Drop = "given up"   // the server could not be reached for too long
	DropStopped   Drop = "stopped"    // the recorder was stopped before it was sent
)

// Drops returns all reasons.
func Drops() []Drop {
	return []Drop{DropQueueFull, DropLimited, DropForbidden, DropRefused, DropGivenUp, DropStopped}
}

// Snapshot is the state of a recorder at one moment, as plain data.
type Snapshot struct {
	// Waiting is how many Events wait to be sent.
	Waiting int
	// Recorded is how many Events the server has accepted, new ones and repetitions.
	Recorded int64
	// Dropped is how many were dropped, by reason; a reason that has not occurred is not there.
	Dropped map[Drop]int64
}

// Snapshot returns the state. It may be called from any goroutine.
func (r *Recorder) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Snapshot{Waiting: len(r.waiting), Recorded: r.recorded, Dropped: maps.Clone(r.dropped)}
}

const (
	// mostWaiting is how many Events may wait to be sent; more are dropped.
	mostWaiting = 1000
	// longestMessage is the limit of the API for Events of the newer kind.
	longestMessage = 1024
	// longestName leaves room for the number that follows; a name may have 253 bytes.
	longestName = 230
)

// Start returns a recorder and starts its goroutine, which Stop ends.
func Start(config Config) *Recorder {
	ctx, abort := context.WithCancel(context.Background())
	r := &Recorder{
		config:     config,
		waiting:    make(chan note, mostWaiting),
		abort:      abort,
		done:       make(chan struct{}),
		correlator: newCorrelator(),
		suppressed: map[string]time.Time{},
		dropped:    map[Drop]int64{},
	}
	go func() {
		defer close(r.done)
		for n := range r.waiting {
			r.record(ctx, n)
		}
	}()
	return r
}

// Event records that something happened to an object. reason is one word in upper camel case,
// message a sentence. It does not block. The Event is sent later, counted with an earlier one, or
// dropped; see Guarantees in the package documentation. Only the values of ctx are used, see
// [restclient.WithOrigin].
func (r *Recorder) Event(ctx context.Context, object api.ObjectReference, kind api.EventType, reason, message string) {
	n := note{ctx: context.WithoutCancel(ctx), event: r.eventOf(object, kind, reason, message)}
	if why := r.queue(n); why != "" {
		r.drop(n.ctx, n.event, why, nil)
	}
}

// queue returns why the note was dropped, or "".
func (r *Recorder) queue(n note) Drop {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return DropStopped
	}
	select {
	case r.waiting <- n:
		return ""
	default:
		return DropQueueFull
	}
}

func (r *Recorder) eventOf(object api.ObjectReference, kind api.EventType, reason, message string) *api.Event {
	now, namespace := time.Now(), cmp.Or(object.Namespace, "default")
	if len(message) > longestMessage {
		const ellipsis = "..."
		message = strings.ToValidUTF8(message[:longestMessage-len(ellipsis)], "") + ellipsis
	}
	return &api.Event{
		TypeMeta:            api.TypeMeta{Kind: "Event", APIVersion: "v1"},
		ObjectMeta:          api.ObjectMeta{Name: r.nameFor(object.Name, now), Namespace: namespace},
		InvolvedObject:      object,
		Type:                kind,
		Reason:              reason,
		Message:             message,
		Source:              api.EventSource{Component: r.config.Component, Host: r.config.Instance},
		FirstTimestamp:      api.NewTime(now),
		LastTimestamp:       api.NewTime(now),
		Count:               1,
		ReportingController: r.config.Component,
		ReportingInstance:   r.config.Instance,
	}
}

// nameFor returns the name of the object with a number that increases with time, even within one
// tick of the clock.
func (r *Recorder) nameFor(object string, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastName = max(now.UnixNano(), r.lastName+1)
	return fmt.Sprintf("%s.%x", strings.TrimRight(object[:min(len(object), longestName)], ".-"), r.lastName)
}

// drop counts an Event that will not be recorded.
func (r *Recorder) drop(ctx context.Context, event *api.Event, why Drop, err error) {
	r.mu.Lock()
	r.dropped[why]++
	r.mu.Unlock()
	if t := r.config.Trace; t != nil && t.Dropped != nil {
		t.Dropped(ctx, event, why, err)
	}
}

// Stop sends what waits, for at most timeout, and returns when the goroutine has ended. Later
// Events are dropped.
func (r *Recorder) Stop(timeout time.Duration) {
	r.mu.Lock()
	if !r.stopped {
		r.stopped = true
		close(r.waiting)
	}
	r.mu.Unlock()
	late := time.AfterFunc(timeout, r.abort)
	defer late.Stop()
	<-r.done
	r.abort()
}
