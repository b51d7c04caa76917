package trace

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// causes finds the causes of events, from what an event carries and from the rules of its gear,
// never from nearness in time:
//
//   - one producer feeds a FIFO, and reports the watch event just before it queues its delta;
//   - one entry of a FIFO is in flight at a time, so the store's writes belong to it;
//   - one key is with one worker; a listener makes one call at a time;
//   - a request carries its pass, or belongs to the reflector of its resource;
//   - a write and its watch event have the same resource version.
type causes struct {
	marks     map[mark]uint64   // the number of the event that left each last
	queued    map[mark][]uint64 // by informer and key, since its last pop
	calls     map[string][]call // running handler calls by key
	queues    []string          // of which a key was got
	passes    map[string]string // namespace by name of the pass
	resources map[uint64]string // by list or watch of no pass
	held      map[mark]uint64   // the lab.held of what waits at each gate
}

// mark is what an event leaves for those that it causes.
type mark struct {
	what, in, key string
	n             uint64
}

// call is a running call of a handler.
type call struct {
	handler string
	seq     uint64
}

func newCauses() *causes {
	return &causes{
		marks: map[mark]uint64{}, queued: map[mark][]uint64{}, calls: map[string][]call{}, passes: map[string]string{},
		resources: map[uint64]string{}, held: map[mark]uint64{},
	}
}

// remembered bounds each map. A map that is full is emptied: later events of its keys have no
// cause.
const remembered = 300_000

func remember[K comparable, V any](m map[K]V, key K, value V) {
	if len(m) >= remembered {
		clear(m)
	}
	m[key] = value
}

func (c *causes) leave(e *Event, m mark) { remember(c.marks, m, e.Seq) }

// take returns the event that left a mark last, 0 if there is none, and removes the mark.
func (c *causes) take(m mark) uint64 {
	seq := c.marks[m]
	delete(c.marks, m)
	return seq
}

// most is how many causes an event has at most.
const most = 50

func (e *Event) causedBy(seqs ...uint64) {
	for _, seq := range seqs {
		if seq > 0 && len(e.Causes) < most {
			e.Causes = append(e.Causes, seq)
		}
	}
}

// find sets the causes of e, which has its number, and remembers e for those that follow.
func (c *causes) find(e *Event) {
	gear, hook, _ := strings.Cut(e.Name, ".")
	switch gear {
	case "reflector":
		c.reflector(hook, e)
	case "deltafifo":
		c.fifo(hook, e)
	case "indexer":
		e.causedBy(c.marks[mark{what: "popped", in: e.In}])
		c.leave(e, mark{what: "written", in: e.In})
	case "informer":
		c.informer(hook, e)
	case "queue":
		c.queue(hook, e)
	case "nsctl":
		c.namespace(hook, e)
	case "restclient":
		c.request(hook, e)
	case "lab":
		c.gate(hook, e)
	}
}

func (c *causes) reflector(hook string, e *Event) {
	list, resync := mark{what: "list", in: e.In}, mark{what: "resync", in: e.In}
	answered := c.marks[mark{what: "answered", in: e.In}]
	// The last lab.held of the present watch, and of the one before.
	held, heldBefore := mark{what: "held", in: e.In}, mark{what: "heldBefore", in: e.In}
	switch hook {
	case "event":
		e.causedBy(c.marks[mark{what: "write", key: e.ResourceVersion}])
		c.leave(e, mark{what: "event", in: e.In})
		c.take(heldBefore)
	case "bookmark":
		c.leave(e, list) // the end of a streaming list
	case "pageListed":
		e.causedBy(answered)
		c.leave(e, list)
	case "listed", "streamingListAbandoned":
		e.causedBy(c.marks[list])
	case "backOff":
		e.causedBy(answered)
	case "watchStarted":
		e.causedBy(answered)
		remember(c.marks, heldBefore, c.take(held))
	case "watchEnded": // the server cuts a watch that is not read
		e.causedBy(answered)
		e.heldBy("G1", c.marks[held])
	case "expired": // and forgets what it has not sent
		e.causedBy(answered)
		e.heldBy("G1", cmp.Or(c.marks[held], c.marks[heldBefore]))
	case "resync":
		e.causedBy(c.marks[resync])
	}
}

func (c *causes) fifo(hook string, e *Event) {
	key, popped := mark{in: e.In, key: e.Key}, mark{what: "popped", in: e.In}
	switch hook {
	case "queued", "deduplicated", "ignored":
		what := "event"
		switch e.Deltas {
		case "R", tombstone:
			what = "list"
		case "S":
			what = "resync"
		}
		e.causedBy(c.marks[mark{what: what, in: e.In}])
		if waiting := c.queued[key]; hook == "queued" && len(waiting) < most {
			remember(c.queued, key, append(waiting, e.Seq))
		}
	case "replaced":
		e.causedBy(c.marks[mark{what: "list", in: e.In}])
	case "resynced":
		e.causedBy(c.marks[mark{what: "resync", in: e.In}])
	case "popped":
		e.causedBy(c.queued[key]...)
		delete(c.queued, key)
		c.leave(e, popped)
		c.take(mark{what: "written", in: e.In})
	case "processed":
		e.causedBy(c.marks[popped])
	case "requeued":
		e.causedBy(c.marks[popped])
		c.queued[key] = append([]uint64{e.Seq}, c.queued[key]...)
	}
}

func (c *causes) informer(hook string, e *Event) {
	applied := mark{what: "applied", in: e.In, n: e.Number}
	distributed := mark{what: "distributed", in: e.In, n: e.Number}
	called := mark{what: "called", in: e.In, key: e.Handler}
	switch hook {
	case "applied":
		e.causedBy(cmp.Or(c.take(mark{what: "written", in: e.In}), c.marks[mark{what: "popped", in: e.In}]))
		c.leave(e, applied)
	case "distributed":
		e.causedBy(c.marks[applied])
		c.leave(e, distributed)
	case "handlerQueued", "handlerCalled": // a handler may be called before the distribution is reported
		e.causedBy(cmp.Or(c.marks[distributed], c.marks[applied]))
		if hook == "handlerCalled" {
			c.leave(e, called)
			remember(c.calls, e.Key, append(c.calls[e.Key], call{e.In + " " + e.Handler, e.Seq}))
		}
	case "handlerPanicked":
		e.causedBy(c.marks[called])
	case "handlerStuck":
		e.causedBy(c.marks[called])
		e.heldBy("G4", c.held[mark{what: "G4", in: e.In, key: e.Key}])
	case "handled":
		e.causedBy(c.take(called))
		isOver := func(one call) bool { return one.handler == e.In+" "+e.Handler }
		if c.calls[e.Key] = slices.DeleteFunc(c.calls[e.Key], isOver); len(c.calls[e.Key]) == 0 {
			delete(c.calls, e.Key)
		}
	case "resyncDue":
		c.leave(e, mark{what: "resync", in: e.In})
	}
}

func (c *causes) queue(hook string, e *Event) {
	of := func(what string) mark { return mark{what: what, in: e.In, key: e.Key} }
	switch hook {
	case "added", "coalesced", "refused":
		if ended := c.take(of("ended")); ended > 0 {
			e.causedBy(ended)
		} else {
			c.adders(e)
		}
		if hook == "added" {
			c.leave(e, of("added"))
		}
	case "delayed":
		c.adders(e)
		if e.Micros > 0 {
			c.leave(e, of("delayed"))
		}
	case "delayCanceled":
		e.causedBy(c.take(of("delayed")))
	case "delayEnded":
		e.causedBy(c.take(of("delayed")))
		c.leave(e, of("ended"))
	case "got":
		added, done := c.marks[of("added")], c.marks[of("done")]
		e.causedBy(added)
		if done > added { // added while it was processed: the Done queued it
			e.causedBy(done)
		}
		c.leave(e, of("got"))
		if !slices.Contains(c.queues, e.In) {
			c.queues = append(c.queues, e.In)
		}
	case "done":
		e.causedBy(c.take(of("got")))
		c.leave(e, of("done"))
	case "retried", "forgotten":
		c.adders(e)
	}
}

// adders lists what may have added a key to a queue: the running handler calls for it, and the pass
// over it that is under way. A pass plans the next one before its end.
func (c *causes) adders(e *Event) {
	c.callers(e)
	e.causedBy(c.marks[mark{what: "pass", key: e.Key}])
	e.Maybe = len(e.Causes) > 1
}

func (c *causes) callers(e *Event) {
	for _, one := range c.calls[e.Key] {
		e.causedBy(one.seq)
	}
	e.Maybe = len(e.Causes) > 1
}

func (c *causes) namespace(hook string, e *Event) {
	context, pass := mark{what: "context", key: e.Key}, mark{what: "pass", key: e.Key}
	switch hook {
	case "enqueued":
		c.callers(e)
	case "passContext":
		c.got(e)
		if e.Pass != "" {
			remember(c.passes, e.Pass, e.Key)
		}
		c.leave(e, context)
		c.take(pass)
	case "passStarted":
		if e.causedBy(c.marks[context]); e.Causes == nil {
			c.got(e)
		}
		c.leave(e, pass)
	case "passDone":
		e.causedBy(c.take(pass))
		c.take(context)
	case "passStuck":
		e.causedBy(c.marks[pass])
		for item, seq := range c.held { // its requests are about the namespace, its content or the types
			if item.what == "G6" && (item.key == "" || item.key == e.Key || strings.HasPrefix(item.key, e.Key+"/")) {
				e.heldBy(item.what, seq)
				break
			}
		}
	default:
		e.causedBy(c.marks[pass])
	}
}

// got adds the got of the key. A key is in one queue of namespaces.
func (c *causes) got(e *Event) {
	for _, queue := range c.queues {
		e.causedBy(c.marks[mark{what: "got", in: queue, key: e.Key}])
	}
}

func (c *causes) request(hook string, e *Event) {
	request, watch := mark{what: "request", n: e.Request}, mark{what: "watch", n: e.Request}
	switch hook {
	case "requestStart":
		if namespace, ok := c.passes[e.Pass]; ok {
			e.causedBy(c.marks[mark{what: "pass", key: namespace}])
		} else if e.Pass == "" && (e.Verb == "list" || e.Verb == "watch") {
			remember(c.resources, e.Request, e.Resource)
		}
		c.leave(e, request)
	case "requestDone":
		e.causedBy(c.marks[request])
		write := mark{what: "write", key: e.ResourceVersion}
		if e.ResourceVersion != "" && c.marks[write] == 0 {
			c.leave(e, write)
		}
		c.answered(e)
	case "watchOpened":
		e.causedBy(c.marks[request])
		c.leave(e, watch)
		c.answered(e)
	case "watchClosed":
		e.causedBy(c.take(watch))
		c.answered(e)
		delete(c.resources, e.Request)
	case "retry", "throttled":
		e.causedBy(c.marks[request])
	case "finished":
		e.causedBy(c.take(request))
		delete(c.resources, e.Request)
	}
}

// answered leaves what the reflector of the request's resource has seen last.
func (c *causes) answered(e *Event) {
	if resource := c.resources[e.Request]; resource != "" {
		c.leave(e, mark{what: "answered", in: resource})
	}
}

// gate remembers what waits at the gates of the laboratory.
func (c *causes) gate(hook string, e *Event) {
	item := mark{what: e.Gate, in: e.In, key: e.Key}
	switch hook {
	case "held":
		remember(c.held, item, e.Seq)
		if e.Gate == "G1" {
			c.leave(e, mark{what: "held", in: e.In})
		}
	case "stepped":
		e.causedBy(c.held[item])
		delete(c.held, item)
	case "released":
		maps.DeleteFunc(c.held, func(item mark, _ uint64) bool { return item.what == e.Gate })
	}
}

// heldBy marks an event that happens because an item waits, or has waited, at a gate.
func (e *Event) heldBy(gate string, seq uint64) {
	if seq > 0 {
		e.Gate = gate
		e.causedBy(seq)
	}
}
