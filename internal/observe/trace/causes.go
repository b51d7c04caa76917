package trace

import (
	"cmp"
	"maps"
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
	informers  map[string]*informerCauses
	queues     map[string]*queueCauses
	passes     map[string]passCauses // by namespace
	passNames  map[string]string     // namespace by name of the pass
	requests   map[uint64]uint64     // the requestStart by request
	opened     map[uint64]uint64     // the watchOpened by request
	lastDone   map[string]uint64     // the requestDone or watchClosed that a resource's reflector saw last
	ofRequest  map[uint64]string     // the resource of a list or watch of no pass
	writes     map[string]uint64     // the committed or requestDone by resource version
	doneOfPass map[string]uint64     // the last requestDone by pass
	calls      map[string][]call     // running handler calls by key
	held       map[heldItem]uint64   // the lab.held of what waits at gates
}

type heldItem struct{ gate, in, key string }

type informerCauses struct {
	event, list, resync uint64              // what the producer of the FIFO reported last
	queued              map[string][]uint64 // by key, since its last pop
	popped, written     uint64              // the pop in flight, and the store's write
	applied             map[uint64]uint64   // by number; the last ones
	distributed         map[uint64]uint64
	called              map[string]uint64 // the running call by handler
	held, heldBefore    uint64            // the last lab.held of the present watch, and of the one before
}

type call struct {
	handler string
	seq     uint64
}

type queueCauses struct{ delayed, ended, added, got, done map[string]uint64 }

type passCauses struct{ context, started uint64 }

func newCauses() *causes {
	return &causes{
		informers: map[string]*informerCauses{}, queues: map[string]*queueCauses{}, passes: map[string]passCauses{},
		passNames: map[string]string{}, requests: map[uint64]uint64{}, opened: map[uint64]uint64{}, lastDone: map[string]uint64{},
		ofRequest: map[uint64]string{}, writes: map[string]uint64{}, doneOfPass: map[string]uint64{}, calls: map[string][]call{},
		held: map[heldItem]uint64{},
	}
}

// remembered bounds each map. A map that is full is emptied: later events of its keys have no
// cause.
const remembered = 100_000

func remember[K comparable, V any](m map[K]V, key K, value V) {
	if len(m) >= remembered {
		clear(m)
	}
	m[key] = value
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
		c.informer(e.In).reflector(c, hook, e)
	case "deltafifo":
		c.informer(e.In).fifo(hook, e)
	case "indexer":
		i := c.informer(e.In)
		e.causedBy(i.popped)
		i.written = e.Seq
	case "informer":
		c.handlers(c.informer(e.In), hook, e)
	case "queue":
		c.queue(e.In).find(c, hook, e)
	case "nsctl":
		c.namespace(hook, e)
	case "restclient":
		c.request(hook, e)
	case "lab":
		c.gate(hook, e)
	}
}

func (c *causes) informer(name string) *informerCauses {
	i := c.informers[name]
	if i == nil {
		i = &informerCauses{queued: map[string][]uint64{}, applied: map[uint64]uint64{}, distributed: map[uint64]uint64{}, called: map[string]uint64{}}
		c.informers[name] = i
	}
	return i
}

func (i *informerCauses) reflector(c *causes, hook string, e *Event) {
	switch hook {
	case "event":
		e.causedBy(c.writes[e.ResourceVersion])
		i.event, i.heldBefore = e.Seq, 0
	case "bookmark":
		i.list = e.Seq // the end of a streaming list
	case "pageListed":
		e.causedBy(c.lastDone[e.In])
		i.list = e.Seq
	case "listed", "streamingListAbandoned":
		e.causedBy(i.list)
	case "watchStarted", "backOff":
		e.causedBy(c.lastDone[e.In])
		if hook == "watchStarted" {
			i.held, i.heldBefore = 0, i.held
		}
	case "watchEnded": // the server cuts a watch that is not read
		e.causedBy(c.lastDone[e.In])
		e.heldBy("G1", i.held)
	case "expired": // and forgets what it has not sent
		e.causedBy(c.lastDone[e.In])
		e.heldBy("G1", cmp.Or(i.held, i.heldBefore))
	case "resync":
		e.causedBy(i.resync)
	}
}

func (i *informerCauses) fifo(hook string, e *Event) {
	switch hook {
	case "queued", "deduplicated", "ignored":
		switch e.Deltas {
		case "R", tombstone:
			e.causedBy(i.list)
		case "S":
			e.causedBy(i.resync)
		default:
			e.causedBy(i.event)
		}
		if hook == "queued" {
			if len(i.queued) >= remembered {
				clear(i.queued)
			}
			if waiting := i.queued[e.Key]; len(waiting) < most {
				i.queued[e.Key] = append(waiting, e.Seq)
			}
		}
	case "replaced":
		e.causedBy(i.list)
	case "resynced":
		e.causedBy(i.resync)
	case "popped":
		e.causedBy(i.queued[e.Key]...)
		delete(i.queued, e.Key)
		i.popped, i.written = e.Seq, 0
	case "processed", "requeued":
		e.causedBy(i.popped)
		if hook == "requeued" {
			i.queued[e.Key] = append([]uint64{e.Seq}, i.queued[e.Key]...)
		}
	}
}

func (c *causes) handlers(i *informerCauses, hook string, e *Event) {
	switch hook {
	case "applied":
		e.causedBy(i.written)
		if i.written == 0 {
			e.causedBy(i.popped)
		}
		remember(i.applied, e.Number, e.Seq)
		i.written = 0
	case "distributed":
		e.causedBy(i.applied[e.Number])
		remember(i.distributed, e.Number, e.Seq)
	case "handlerQueued":
		e.causedBy(i.sent(e.Number))
	case "handlerCalled":
		e.causedBy(i.sent(e.Number))
		i.called[e.Handler] = e.Seq
		if len(c.calls) >= remembered {
			clear(c.calls)
		}
		c.calls[e.Key] = append(c.calls[e.Key], call{e.In + " " + e.Handler, e.Seq})
	case "handled", "handlerPanicked", "handlerStuck":
		e.causedBy(i.called[e.Handler])
		if hook == "handlerStuck" {
			e.heldBy("G4", c.held[heldItem{"G4", e.In, e.Key}])
		}
		if hook == "handled" {
			c.callEnded(e)
			delete(i.called, e.Handler)
		}
	case "resyncDue":
		i.resync = e.Seq
	}
}

// sent returns the distributed of a number. A handler may be called before that is reported; then
// it returns the applied.
func (i *informerCauses) sent(number uint64) uint64 {
	if seq := i.distributed[number]; seq > 0 {
		return seq
	}
	return i.applied[number]
}

func (c *causes) callEnded(e *Event) {
	running := c.calls[e.Key]
	for n, one := range running {
		if one.handler == e.In+" "+e.Handler {
			running = append(running[:n:n], running[n+1:]...)
			break
		}
	}
	if c.calls[e.Key] = running; len(running) == 0 {
		delete(c.calls, e.Key)
	}
}

func (c *causes) queue(name string) *queueCauses {
	q := c.queues[name]
	if q == nil {
		q = &queueCauses{map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]uint64{}}
		c.queues[name] = q
	}
	return q
}

func (q *queueCauses) find(c *causes, hook string, e *Event) {
	switch hook {
	case "added", "coalesced", "refused":
		if ended := q.ended[e.Key]; ended > 0 {
			e.causedBy(ended)
			delete(q.ended, e.Key)
		} else {
			c.adders(e)
		}
		if hook == "added" {
			remember(q.added, e.Key, e.Seq)
		}
	case "delayed":
		c.adders(e)
		if e.Micros > 0 {
			remember(q.delayed, e.Key, e.Seq)
		}
	case "delayCanceled", "delayEnded":
		e.causedBy(q.delayed[e.Key])
		delete(q.delayed, e.Key)
		if hook == "delayEnded" {
			remember(q.ended, e.Key, e.Seq)
		}
	case "got":
		added, done := q.added[e.Key], q.done[e.Key]
		e.causedBy(added)
		if done > added { // added while it was processed: the Done queued it
			e.causedBy(done)
		}
		remember(q.got, e.Key, e.Seq)
	case "done":
		e.causedBy(q.got[e.Key])
		delete(q.got, e.Key)
		remember(q.done, e.Key, e.Seq)
	case "retried", "forgotten":
		c.adders(e)
	}
}

// adders lists what may have added a key to a queue: the running handler calls for it, and the pass
// over it that is under way. A pass plans the next one before its end.
func (c *causes) adders(e *Event) {
	for _, one := range c.calls[e.Key] {
		e.causedBy(one.seq)
	}
	e.causedBy(c.passes[e.Key].started)
	e.Maybe = len(e.Causes) > 1
}

func (c *causes) namespace(hook string, e *Event) {
	pass := c.passes[e.Key]
	switch hook {
	case "enqueued":
		for _, one := range c.calls[e.Key] {
			e.causedBy(one.seq)
		}
		e.Maybe = len(e.Causes) > 1
	case "passContext":
		c.got(e)
		if e.Pass != "" {
			remember(c.passNames, e.Pass, e.Key)
		}
		remember(c.passes, e.Key, passCauses{context: e.Seq})
	case "passStarted":
		if pass.context > 0 {
			e.causedBy(pass.context)
		} else {
			c.got(e)
		}
		remember(c.passes, e.Key, passCauses{pass.context, e.Seq})
	case "passDone":
		e.causedBy(pass.started)
		delete(c.passes, e.Key)
	case "passStuck":
		e.causedBy(pass.started)
		for item, seq := range c.held { // its requests are about the namespace, its content or the types
			if item.gate == "G6" && (item.key == "" || item.key == e.Key || strings.HasPrefix(item.key, e.Key+"/")) {
				e.heldBy(item.gate, seq)
				break
			}
		}
	default:
		e.causedBy(pass.started)
	}
}

// got adds the got of the key. A key is in one queue of namespaces.
func (c *causes) got(e *Event) {
	for _, q := range c.queues {
		if seq := q.got[e.Key]; seq > 0 {
			e.causedBy(seq)
		}
	}
}

func (c *causes) request(hook string, e *Event) {
	switch hook {
	case "requestStart":
		if key, ok := c.passNames[e.Pass]; ok && e.Pass != "" {
			e.causedBy(c.passes[key].started)
		} else if e.Pass == "" && (e.Verb == "list" || e.Verb == "watch") {
			remember(c.ofRequest, e.Request, e.Resource)
		}
		remember(c.requests, e.Request, e.Seq)
	case "requestDone":
		e.causedBy(c.requests[e.Request])
		if e.ResourceVersion != "" {
			if _, committed := c.writes[e.ResourceVersion]; !committed {
				remember(c.writes, e.ResourceVersion, e.Seq)
			}
		}
		c.seen(e)
	case "watchOpened":
		e.causedBy(c.requests[e.Request])
		remember(c.opened, e.Request, e.Seq)
		c.seen(e)
	case "watchClosed":
		e.causedBy(c.opened[e.Request])
		delete(c.opened, e.Request)
		c.seen(e)
		delete(c.ofRequest, e.Request)
	case "retry", "throttled", "finished":
		e.causedBy(c.requests[e.Request])
		if hook == "finished" {
			delete(c.requests, e.Request)
			delete(c.ofRequest, e.Request)
		}
	}
}

// gate remembers what waits at the gates of the laboratory.
func (c *causes) gate(hook string, e *Event) {
	item := heldItem{e.Gate, e.In, e.Key}
	switch hook {
	case "held":
		remember(c.held, item, e.Seq)
		if e.Gate == "G1" {
			c.informer(e.In).held = e.Seq
		}
	case "stepped":
		e.causedBy(c.held[item])
		delete(c.held, item)
	case "released":
		maps.DeleteFunc(c.held, func(item heldItem, _ uint64) bool { return item.gate == e.Gate })
	}
}

// heldBy marks an event that happens because an item waits, or has waited, at a gate.
func (e *Event) heldBy(gate string, seq uint64) {
	if seq > 0 {
		e.Gate = gate
		e.causedBy(seq)
	}
}

// seen remembers what the reflector of the request's resource sees.
func (c *causes) seen(e *Event) {
	if resource := c.ofRequest[e.Request]; resource != "" {
		c.lastDone[resource] = e.Seq
	}
}
