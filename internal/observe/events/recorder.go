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

// Recorder notes what happens as Events of the cluster. [Start] makes one. Its methods may be called from any goroutine.
type Recorder struct {
	client    *restclient.Client
	component string
	instance  string
	trace     *Trace
	waiting   chan note
	stopping  chan struct{} // closed by Stop: send what waits, then end
	abort     context.CancelFunc
	done      chan struct{} // closed when the goroutine has ended

	// Of the goroutine alone.
	correlator *correlator
	muted      map[muteKey]time.Time

	// mu guards the rest.
	mu       sync.Mutex
	stopped  bool
	lastName int64 // nanoseconds; what was put into the last name
	counters counters
}

// EventRecorder is as much of a [Recorder] as its users need.
type EventRecorder interface {
	Event(ctx context.Context, object api.ObjectReference, kind api.EventType, reason, message string)
}

// note is an Event on its way.
type note struct {
	ctx   context.Context // carries values and no end
	event *api.Event
}

// Config is what a recorder needs. Client and Component are required.
type Config struct {
	// Client is what Events are sent with. Its rate limit counts them.
	Client *restclient.Client
	// Component is the name of the program.
	Component string
	// Instance tells this process from others of that name. Default: none.
	Instance string
	// Waiting bounds how many Events may wait to be sent; more are dropped. Default 1000.
	Waiting int
	// Trace is told what becomes of Events. Default: nobody.
	Trace *Trace
}

const (
	defaultWaiting = 1000
	// longestMessage is what the API allows in Events of the newer kind, and more than anybody reads.
	longestMessage = 1024
	// longestName leaves room for the number behind it: a name may have 253 bytes.
	longestName = 230
)

// Start returns a recorder and starts its goroutine, which Stop ends.
func Start(config Config) *Recorder {
	if config.Waiting <= 0 {
		config.Waiting = defaultWaiting
	}
	ctx, abort := context.WithCancel(context.Background())
	r := &Recorder{
		client:     config.Client,
		component:  config.Component,
		instance:   config.Instance,
		trace:      config.Trace,
		waiting:    make(chan note, config.Waiting),
		stopping:   make(chan struct{}),
		abort:      abort,
		done:       make(chan struct{}),
		correlator: newCorrelator(),
		muted:      map[muteKey]time.Time{},
		counters:   counters{dropped: map[Drop]int64{}},
	}
	go r.run(ctx)
	return r
}

// Event notes that something happened to an object. reason is one word in upper camel case, message a sentence. It never
// waits: the Event is sent a moment later, as another count of one that is there already, or not at all, see Guarantees in
// the package documentation. Of ctx only the values count, see [restclient.WithOrigin].
func (r *Recorder) Event(ctx context.Context, object api.ObjectReference, kind api.EventType, reason, message string) {
	n := note{ctx: context.WithoutCancel(ctx), event: r.eventOf(object, kind, reason, message)}
	if why := r.queue(n); why != "" {
		r.drop(n.ctx, n.event, why, nil)
	}
}

// queue returns why the note cannot be queued, or "". The lock keeps it from coming after the last one that is looked at;
// nothing waits here.
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

// nameFor is the name of the object and a number that grows with time, also within one tick of the clock.
func (r *Recorder) nameFor(object string, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastName = max(now.UnixNano(), r.lastName+1)
	return fmt.Sprintf("%s.%s", strings.TrimRight(object[:min(len(object), longestName)], ".-"), strconv.FormatInt(r.lastName, 16))
}

// shortened cuts a message that is too long, between characters.
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

// Stop has what waits sent, for at most that long, and returns when the goroutine has ended. Events that come later are
// dropped.
func (r *Recorder) Stop(patience time.Duration) {
	r.mu.Lock()
	if !r.stopped {
		r.stopped = true
		close(r.stopping)
	}
	r.mu.Unlock()
	late := time.AfterFunc(patience, r.abort)
	defer late.Stop()
	<-r.done
	r.abort()
}

// run sends Events, one after the other, until it is told to stop.
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

// sendRest sends what waits.
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
