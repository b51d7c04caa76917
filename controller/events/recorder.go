package events

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Recorder records Kubernetes Events. [Start] returns a new one. Its methods may be called from any
// goroutine.
type Recorder struct {
	client    *restclient.Client
	component string
	instance  string
	trace     *Trace
	waiting   chan note
	stopping  chan struct{} // closed by Stop: send what waits, then end
	abort     context.CancelFunc
	done      chan struct{} // closed when the goroutine has ended

	// Used by the goroutine only.
	correlator *correlator
	suppressed map[suppressKey]time.Time

	// mu guards the fields below.
	mu       sync.Mutex
	stopped  bool
	lastName int64 // the number in the last name, in nanoseconds
	counters counters
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
	// Trace receives the fate of each Event. Default: none.
	Trace *Trace
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
		client:     config.Client,
		component:  config.Component,
		instance:   config.Instance,
		trace:      config.Trace,
		waiting:    make(chan note, mostWaiting),
		stopping:   make(chan struct{}),
		abort:      abort,
		done:       make(chan struct{}),
		correlator: newCorrelator(),
		suppressed: map[suppressKey]time.Time{},
		counters:   counters{dropped: map[Drop]int64{}},
	}
	go r.run(ctx)
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

// queue returns why the note was dropped, or "". The lock keeps a note from being queued after
// sendRest has returned; it is never held while blocking.
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
	now := time.Now()
	namespace := object.Namespace
	if namespace == "" {
		namespace = "default"
	}
	return &api.Event{
		TypeMeta:            api.TypeMeta{Kind: "Event", APIVersion: "v1"},
		ObjectMeta:          api.ObjectMeta{Namespace: namespace, Name: r.nameFor(object.Name, now)},
		InvolvedObject:      object,
		Type:                kind,
		Reason:              reason,
		Message:             shortened(message),
		Source:              api.EventSource{Component: r.component, Host: r.instance},
		FirstTimestamp:      api.NewTime(now),
		LastTimestamp:       api.NewTime(now),
		Count:               1,
		ReportingController: r.component,
		ReportingInstance:   r.instance,
	}
}

// nameFor returns the name of the object with a number that increases with time, even within one
// tick of the clock.
func (r *Recorder) nameFor(object string, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastName = max(now.UnixNano(), r.lastName+1)
	return fmt.Sprintf("%s.%s", strings.TrimRight(object[:min(len(object), longestName)], ".-"),
		strconv.FormatInt(r.lastName, 16))
}

// shortened truncates a message that is too long, at a character boundary.
func shortened(text string) string {
	if len(text) <= longestMessage {
		return text
	}
	const ellipsis = "..."
	cut := longestMessage - len(ellipsis)
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + ellipsis
}

// Stop sends what waits, for at most timeout, and returns when the goroutine has ended. Later
// Events are dropped.
func (r *Recorder) Stop(timeout time.Duration) {
	r.mu.Lock()
	if !r.stopped {
		r.stopped = true
		close(r.stopping)
	}
	r.mu.Unlock()
	late := time.AfterFunc(timeout, r.abort)
	defer late.Stop()
	<-r.done
	r.abort()
}

// run sends Events one after the other until Stop.
func (r *Recorder) run(ctx context.Context) {
	defer close(r.done)
	for {
		select {
		case n := <-r.waiting:
			r.record(ctx, n)
		case <-r.stopping:
			r.sendRest(ctx)
			return
		}
	}
}

// sendRest sends the Events that wait.
func (r *Recorder) sendRest(ctx context.Context) {
	for {
		select {
		case n := <-r.waiting:
			r.record(ctx, n)
		default:
			return
		}
	}
}
