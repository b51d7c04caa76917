package trace

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
)

// chrome writes a file of Chrome trace events, which trace viewers such as Perfetto open.
//
//   - M names the tracks: a process is a gear or an informer, a thread a worker or a listener.
//   - X is a pass, a phase or a handler call, nested on the track of its worker or listener.
//     The slices of what waits at a gate are closed, and reopened when it goes on.
//   - b and e, with id key#n, are what overlaps: waiting in the FIFO, for a listener, in the work
//     queue and for a delay, and requests.
//   - s and f, a flow, lead from the handler call that added a key to the pass over it.
//   - C are depths, at most one a millisecond; i are marks, such as 410 and a resync.
//
// A span is written when it ends, so a track is in order of ends; viewers sort by ts. No two slices
// of a track begin or end at the same moment: what took less than a microsecond, as many calls do,
// is told apart by nanoseconds, since some viewers nest slices of length 0 wrongly.
type chrome struct {
	file  *os.File
	out   *bufio.Writer
	err   error
	first bool

	pids    map[string]int
	tids    map[string]int
	async   map[string][]asyncSpan // what is open, the oldest first
	numbers map[string]uint64      // n of key#n
	slots   map[string][]string    // by queue, the key of each worker
	calls   map[string]span        // by listener
	passes  map[string]span        // by namespace
	phases  map[string]span
	holds   map[string]*heldTrack
	flows   map[string]flow // by queue and key: the handler call that added it
	depths  map[string]*counter
	pending map[string]int64 // by listener, how many events wait for its handler
	last    map[int]int64    // by track, the last moment that has a begin or end, in ns
	now     int64            // µs
}

type span struct {
	pid, tid int
	name     string
	at       int64 // ns
}

type asyncSpan struct {
	pid            int
	kind, name, id string
}

type flow struct {
	id       uint64
	pid, tid int
	at       int64 // ns
}

func createChrome(name string, header Header) (*chrome, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	c := newChrome(file, header)
	c.file = file
	return c, nil
}

func newChrome(to interface{ Write([]byte) (int, error) }, header Header) *chrome {
	c := &chrome{
		out: bufio.NewWriter(to), first: true, pids: map[string]int{}, tids: map[string]int{}, async: map[string][]asyncSpan{},
		numbers: map[string]uint64{}, slots: map[string][]string{}, calls: map[string]span{}, passes: map[string]span{},
		phases: map[string]span{}, holds: map[string]*heldTrack{}, flows: map[string]flow{}, depths: map[string]*counter{}, pending: map[string]int64{},
		last: map[int]int64{},
	}
	start, _ := json.Marshal(map[string]string{"schema": header.Schema, "start": header.Start, "scene": header.Scene, "gears": header.Gears})
	c.text(`{"displayTimeUnit":"ms","otherData":` + string(start) + `,"traceEvents":[`)
	return c
}

func (c *chrome) text(text string) {
	if _, err := c.out.WriteString(text); c.err == nil {
		c.err = err
	}
}

// chromeEvent is one event of the format.
type chromeEvent struct {
	Phase    string         `json:"ph"`
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	ID       string         `json:"id,omitempty"`
	PID      int            `json:"pid"`
	TID      int            `json:"tid"`
	At       float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Binding  string         `json:"bp,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

func (c *chrome) event(e chromeEvent) {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	if !c.first {
		c.text(",")
	}
	c.first = false
	c.text("\n" + string(line))
}

func (c *chrome) pid(name string) int {
	id := c.pids[name]
	if id == 0 {
		id = len(c.pids) + 1
		c.pids[name] = id
		c.event(chromeEvent{Phase: "M", Name: "process_name", PID: id, Args: map[string]any{"name": name}})
	}
	return id
}

func (c *chrome) tid(pid int, name string) int {
	key := strconv.Itoa(pid) + " " + name
	id := c.tids[key]
	if id == 0 {
		id = len(c.tids) + 1
		c.tids[key] = id
		c.event(chromeEvent{Phase: "M", Name: "thread_name", PID: pid, TID: id, Args: map[string]any{"name": name}})
	}
	return id
}

// add adds an event. It may be called on a nil chrome.
func (c *chrome) add(e *Event) {
	if c == nil || c.err != nil {
		return
	}
	c.now = e.Time
	gear, hook, _ := strings.Cut(e.Name, ".")
	switch gear {
	case "reflector":
		c.reflector(hook, e)
	case "deltafifo":
		c.fifo(hook, e)
	case "informer":
		c.informer(hook, e)
	case "queue":
		c.queue(hook, e)
	case "nsctl":
		c.namespace(hook, e)
	case "restclient":
		c.request(hook, e)
	case "lab", "trace":
		c.recording(gear, hook, e)
	}
}

func (c *chrome) mark(pid int, name string, args map[string]any) {
	c.event(chromeEvent{Phase: "i", Name: name, PID: pid, At: float64(c.now), Scope: "p", Args: args})
}

// begin returns a slice that begins now.
func (c *chrome) begin(pid, tid int, name string) span { return span{pid, tid, name, c.moment(tid)} }

func (c *chrome) complete(s span, args map[string]any) {
	took := c.moment(s.tid) - s.at
	c.event(chromeEvent{Phase: "X", Name: s.name, PID: s.pid, TID: s.tid, At: inMicros(s.at), Duration: inMicros(took), Args: args})
}

// moment returns the present in nanoseconds, or the first after the last moment of the track.
func (c *chrome) moment(tid int) int64 {
	c.last[tid] = max(c.now*1000, c.last[tid]+1)
	return c.last[tid]
}

func inMicros(ns int64) float64 { return float64(ns) / 1000 }

// open begins an asynchronous span; close ends the oldest one of the key.
func (c *chrome) open(pid int, kind, key, name string) {
	slot := strconv.Itoa(pid) + kind + " " + key
	c.numbers[kind]++
	s := asyncSpan{pid, kind, name, key + "#" + strconv.FormatUint(c.numbers[kind], 10)}
	c.async[slot] = append(c.async[slot], s)
	c.event(chromeEvent{Phase: "b", Category: kind, Name: name, ID: s.id, PID: pid, At: float64(c.now)})
}

func (c *chrome) closeAsync(pid int, kind, key string) {
	slot := strconv.Itoa(pid) + kind + " " + key
	open := c.async[slot]
	if len(open) == 0 {
		return
	}
	c.event(chromeEvent{Phase: "e", Category: kind, Name: open[0].name, ID: open[0].id, PID: pid, At: float64(c.now)})
	if open = open[1:]; len(open) == 0 {
		delete(c.async, slot)
	} else {
		c.async[slot] = open
	}
}

func (c *chrome) isOpen(pid int, kind, key string) bool {
	return len(c.async[strconv.Itoa(pid)+kind+" "+key]) > 0
}

func (c *chrome) reflector(hook string, e *Event) {
	switch pid := c.pid("informer " + e.In); hook {
	case "expired":
		c.mark(pid, "410 expired", map[string]any{"rv": e.ResourceVersion})
	case "listed", "watchStarted", "watchEnded", "backOff", "resync", "idleTimeout":
		c.mark(pid, hook, map[string]any{"rv": e.ResourceVersion, "err": e.Err})
	}
}

func (c *chrome) fifo(hook string, e *Event) {
	const kind = "fifo"
	switch pid := c.pid("informer " + e.In); hook {
	case "queued":
		if !c.isOpen(pid, kind, e.Key) {
			c.open(pid, kind, e.Key, e.Key)
		}
		c.depth(pid, "deltafifo", e.N)
	case "popped":
		c.closeAsync(pid, kind, e.Key)
		c.depth(pid, "deltafifo", e.N)
	case "requeued":
		if !c.isOpen(pid, kind, e.Key) {
			c.open(pid, kind, e.Key, e.Key)
		}
	}
}

func (c *chrome) informer(hook string, e *Event) {
	pid := c.pid("informer " + e.In)
	switch hook {
	case "handlerQueued":
		c.backlog(pid, e, e.Pending)
	case "handlerEnded":
		c.backlog(pid, e, 0)
	case "handlerCalled":
		c.calls[e.In+" "+e.Handler] = c.begin(pid, c.tid(pid, "listener "+e.Handler), e.Kind+" "+e.Key)
	case "handled":
		c.resume(e.In + " " + e.Handler)
		if s, ok := c.calls[e.In+" "+e.Handler]; ok {
			c.complete(s, map[string]any{"key": e.Key, "kind": e.Kind})
			delete(c.calls, e.In+" "+e.Handler)
		}
		c.backlog(pid, e, max(0, c.pending[e.In+" "+e.Handler]-1))
	case "handlerPanicked", "handlerStuck", "mutated", "processError":
		c.mark(pid, hook, map[string]any{"key": e.Key})
	case "resyncDue":
		if e.N > 0 {
			c.mark(pid, hook, nil)
		}
	}
}

func (c *chrome) queue(hook string, e *Event) {
	pid := c.pid("queue " + e.In)
	switch hook {
	case "added":
		c.open(pid, "queue", e.Key, e.Key)
		c.leave(e)
	case "delayed":
		if e.Micros > 0 && !c.isOpen(pid, "delay", e.Key) {
			c.open(pid, "delay", e.Key, e.Key)
			c.leave(e)
		}
	case "delayCanceled", "delayEnded":
		c.closeAsync(pid, "delay", e.Key)
	case "got":
		c.closeAsync(pid, "queue", e.Key)
		slots := c.slots[e.In]
		slot := 0
		for slot < len(slots) && slots[slot] != "" {
			slot++
		}
		if slot == len(slots) {
			slots = append(slots, "")
		}
		slots[slot] = e.Key
		c.slots[e.In] = slots
		s := c.begin(pid, c.tid(pid, "worker "+strconv.Itoa(slot+1)), e.Key)
		c.passes[e.In+" "+e.Key] = s
		c.arrive(e, s)
	case "done":
		c.resume(e.In + " " + e.Key)
		if s, ok := c.passes[e.In+" "+e.Key]; ok {
			c.complete(s, map[string]any{"key": e.Key})
			delete(c.passes, e.In+" "+e.Key)
			for i, key := range c.slots[e.In] {
				if key == e.Key {
					c.slots[e.In][i] = ""
				}
			}
		}
	}
}

// leave begins a flow at the handler call that adds a key, if exactly one runs for it.
func (c *chrome) leave(e *Event) {
	if _, ok := c.flows[e.In+" "+e.Key]; ok || e.Maybe {
		return
	}
	var from *span
	for _, s := range c.calls {
		if strings.HasSuffix(s.name, " "+e.Key) {
			if from != nil {
				return
			}
			from = &s
		}
	}
	if from != nil {
		c.flows[e.In+" "+e.Key] = flow{e.Seq, from.pid, from.tid, c.moment(from.tid)}
	}
}

// arrive writes the flow of a key, if one began.
func (c *chrome) arrive(e *Event, to span) {
	f, ok := c.flows[e.In+" "+e.Key]
	if !ok {
		return
	}
	delete(c.flows, e.In+" "+e.Key)
	id := strconv.FormatUint(f.id, 10)
	c.event(chromeEvent{Phase: "s", Category: "cause", Name: "added", ID: id, PID: f.pid, TID: f.tid, At: inMicros(f.at)})
	c.event(chromeEvent{Phase: "f", Category: "cause", Name: "added", ID: id, PID: to.pid, TID: to.tid, At: inMicros(to.at), Binding: "e"})
}

func (c *chrome) namespace(hook string, e *Event) {
	switch hook {
	case "phaseStarted":
		c.resume(namespaceQueue + e.Key)
		if s, ok := c.worker(e.Key); ok {
			c.phases[e.Key] = c.begin(s.pid, s.tid, e.Phase)
		}
	case "phaseDone":
		c.resume(namespaceQueue + e.Key)
		if s, ok := c.phases[e.Key]; ok && s.name == e.Phase {
			c.complete(s, map[string]any{"namespace": e.Key})
			delete(c.phases, e.Key)
		}
	case "gone", "finalized", "conflict", "passPanicked", "passStuck":
		c.mark(c.pid("nsctl"), hook, map[string]any{"namespace": e.Key, "err": e.Err})
	}
}

// namespaceQueue begins the slots of the namespace controller's passes.
const namespaceQueue = "namespace "

// worker returns the span of the worker that has a key.
func (c *chrome) worker(key string) (span, bool) {
	s, ok := c.passes[namespaceQueue+key]
	return s, ok
}

func (c *chrome) request(hook string, e *Event) {
	pid, id := c.pid("requests"), strconv.FormatUint(e.Request, 10)
	switch hook {
	case "requestStart":
		c.open(pid, "request", id, e.Verb+" "+e.Path)
	case "requestDone":
		c.closeAsync(pid, "request", id)
	case "watchOpened":
		c.open(pid, "watch", id, "watch "+e.Resource)
	case "watchClosed":
		c.closeAsync(pid, "watch", id)
	}
}

// recording marks what happens to the recording.
func (c *chrome) recording(gear, hook string, e *Event) {
	pid := c.pid("recording")
	switch gear + "." + hook {
	case "trace.lost", "trace.end", "lab.scene", "lab.input", "lab.released", "lab.stepped", "lab.chapter", "lab.question", "lab.answer", "lab.forked":
		c.mark(pid, e.Name, map[string]any{"name": e.Label, "args": e.Arguments, "reason": e.Reason, "lost": e.N})
		switch e.Name {
		case "lab.stepped":
			c.stepped(e)
		case "lab.released":
			c.released(e.Gate)
		}
	case "lab.held":
		c.held(e)
		c.mark(pid, "held at "+e.Gate, map[string]any{"key": e.Key})
	}
}

// close ends what is open and the file. It may be called on a nil chrome.
func (c *chrome) close() error {
	if c == nil {
		return nil
	}
	c.end()
	if err := c.file.Close(); c.err == nil {
		c.err = err
	}
	return c.err
}

func (c *chrome) end() {
	c.released("")
	for _, open := range []map[string]span{c.phases, c.calls, c.passes} {
		for _, s := range open {
			c.complete(s, map[string]any{"cut": true})
		}
	}
	for _, spans := range c.async {
		for _, s := range spans {
			c.event(chromeEvent{Phase: "e", Category: s.kind, Name: s.name, ID: s.id, PID: s.pid, At: float64(c.now)})
		}
	}
	for _, last := range c.depths {
		c.draw(last)
	}
	c.text("\n]}\n")
	if err := c.out.Flush(); c.err == nil {
		c.err = err
	}
}
