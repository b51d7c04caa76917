package trace

import (
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// in returns what records the events of the informer or queue with this name.
func (r *Recorder) in(name string) func(hook string, e record) {
	return func(hook string, e record) {
		e.hook, e.in = hook, name
		r.put(e)
	}
}

// Reflector returns the hooks of the reflector of the informer with this name.
func (r *Recorder) Reflector(name string) *reflector.Trace {
	if r == nil {
		return nil
	}
	put := r.in(name)
	return &reflector.Trace{
		StateChanged: func(from, to reflector.Phase, on string) {
			put("reflector.stateChanged", record{a: from.String(), b: to.String(), c: on})
		},
		PageListed: func(p reflector.PageInfo) {
			put("reflector.pageListed", record{rv: p.ResourceVersion, n: int64(p.Items), x: int64(p.Page), yes: p.More})
		},
		Listed: func(l reflector.ListInfo) {
			e := record{rv: l.ResourceVersion, n: int64(l.Items), x: int64(l.Pages), took: l.Duration}
			put("reflector.listed", e)
		},
		StreamingListAbandoned: func(err error) { put("reflector.streamingListAbandoned", record{err: err}) },
		WatchStarted: func(opts api.ListOptions) {
			put("reflector.watchStarted", record{rv: opts.ResourceVersion})
		},
		Event: func(e reflector.EventInfo) {
			put("reflector.event", record{key: e.Name, rv: e.ResourceVersion, a: string(e.Type), b: e.Namespace})
		},
		Bookmark: func(resourceVersion string, initial bool) {
			put("reflector.bookmark", record{rv: resourceVersion, yes: initial})
		},
		WatchEnded: func(w reflector.WatchInfo) {
			put("reflector.watchEnded", record{rv: w.ResourceVersion, n: int64(w.Events), took: w.Lasted, err: w.Err})
		},
		BackOff: func(delay time.Duration, err error) { put("reflector.backOff", record{took: delay, err: err}) },
		Expired: func(resourceVersion string, err error) {
			put("reflector.expired", record{rv: resourceVersion, err: err})
		},
		IdleTimeout: func(silence time.Duration) { put("reflector.idleTimeout", record{took: silence}) },
		Resync:      func(err error) { put("reflector.resync", record{err: err}) },
		StoreFailed: func(e *reflector.StoreError) {
			put("reflector.storeFailed", record{rv: e.ResourceVersion, a: string(e.Op), err: e.Err})
		},
	}
}

// FIFO returns the hooks of the queue of the informer with this name.
func FIFO[T any](r *Recorder, name string) *deltafifo.Trace[T] {
	if r == nil {
		return nil
	}
	put := r.in(name)
	delta := func(hook, key string, d deltafifo.Delta[T], depth int) {
		e := record{key: key, n: int64(depth), a: letterOf(d.Type, d.Tombstone != nil)}
		if d.Tombstone == nil { // a tombstone's object may be the zero value
			e.rv = versionOf(d.Object)
		}
		put(hook, e)
	}
	deltas := func(hook, key string, d deltafifo.Deltas[T], initial bool, depth int) {
		put(hook, record{key: key, n: int64(depth), m: int64(len(d)), id: pack(d), yes: initial})
	}
	return &deltafifo.Trace[T]{
		Queued: func(key string, d deltafifo.Delta[T], depth int) { delta("deltafifo.queued", key, d, depth) },
		Deduplicated: func(key string, _, dropped deltafifo.Delta[T]) {
			delta("deltafifo.deduplicated", key, dropped, 0)
		},
		Ignored:  func(key string, d deltafifo.Delta[T]) { delta("deltafifo.ignored", key, d, 0) },
		Canceled: func(key string, d deltafifo.Delta[T]) { delta("deltafifo.canceled", key, d, 0) },
		Replaced: func(resourceVersion string, items, tombstones, _ int) {
			put("deltafifo.replaced", record{rv: resourceVersion, n: int64(items), m: int64(tombstones)})
		},
		Resynced: func(queued, skipped, _ int) {
			put("deltafifo.resynced", record{n: int64(queued), m: int64(skipped)})
		},
		Popped: func(key string, d deltafifo.Deltas[T], initial bool, depth int) {
			deltas("deltafifo.popped", key, d, initial, depth)
		},
		Processed: func(key string, _ deltafifo.Deltas[T], err error) {
			put("deltafifo.processed", record{key: key, err: err})
		},
		Requeued: func(key string, d deltafifo.Deltas[T], depth int) {
			deltas("deltafifo.requeued", key, d, false, depth)
		},
		Synced: func() { put("deltafifo.synced", record{}) },
		Closed: func(depth int) { put("deltafifo.closed", record{n: int64(depth)}) },
	}
}

// versionOf returns the resource version of an object, if it has one.
func versionOf(object any) string {
	if v, ok := object.(interface{ GetResourceVersion() string }); ok {
		return v.GetResourceVersion()
	}
	return ""
}

// deltaLetters are the letters of Event.Deltas; packed deltas are indexes.
var deltaLetters = [8]string{"", "A", "U", "D", "R", "S", tombstone, "?"}

// tombstone is the letter of a deletion that was inferred from a list.
const tombstone = "†"

// packed is how many deltas pack keeps.
const packed = 20

func letterOf(t deltafifo.DeltaType, inferred bool) string { return deltaLetters[code(t, inferred)] }

func code(t deltafifo.DeltaType, inferred bool) uint64 {
	switch t {
	case deltafifo.Added:
		return 1
	case deltafifo.Updated:
		return 2
	case deltafifo.Deleted:
		if inferred {
			return 6
		}
		return 3
	case deltafifo.Replaced:
		return 4
	case deltafifo.Sync:
		return 5
	}
	return 7
}

// pack returns the newest deltas in three bits each, because a hook must not allocate.
func pack[T any](all deltafifo.Deltas[T]) (bits uint64) {
	for i, d := range all[max(0, len(all)-packed):] {
		bits |= code(d.Type, d.Tombstone != nil) << (3 * i)
	}
	return bits
}

// letters returns the letters of n packed deltas.
func letters(bits uint64, n int64) string {
	var text []byte
	for range min(n, packed) {
		text = append(text, deltaLetters[bits&7]...)
		bits >>= 3
	}
	return string(text)
}

// Store returns the hooks of the store of the informer with this name.
func (r *Recorder) Store(name string) *indexer.Trace {
	if r == nil {
		return nil
	}
	put := r.in(name)
	written := func(hook string) func(string) { return func(key string) { put(hook, record{key: key}) } }
	return &indexer.Trace{
		Added: written("indexer.added"), Updated: written("indexer.updated"), Deleted: written("indexer.deleted"),
		Replaced: func(objects int, resourceVersion string) {
			put("indexer.replaced", record{rv: resourceVersion, n: int64(objects)})
		},
		IndexFailed: func(e *indexer.IndexErrors) {
			first := record{err: e}
			if len(e.First) > 0 {
				first.key = e.First[0].Key
			}
			put("indexer.indexFailed", first)
		},
	}
}

// Informer returns the hooks of the informer with this name.
func (r *Recorder) Informer(name string) *informer.Trace {
	if r == nil {
		return nil
	}
	put := r.in(name)
	whole := func(hook string) func(string) { return func(string) { put(hook, record{}) } }
	of := func(h informer.HandlerInfo, hook string, e record) {
		e.a, e.id = h.Handler, h.ID
		put(hook, e)
	}
	counted := func(hook string) func(informer.HandlerInfo, int) {
		return func(h informer.HandlerInfo, n int) { of(h, hook, record{n: int64(n)}) }
	}
	only := func(hook string) func(informer.HandlerInfo) {
		return func(h informer.HandlerInfo) { of(h, hook, record{}) }
	}
	return &informer.Trace{
		Started: whole("informer.started"), Stopped: whole("informer.stopped"), Synced: whole("informer.synced"),
		HandlerAdded: counted("informer.handlerAdded"), HandlerRemoved: only("informer.handlerRemoved"),
		HandlerEnded: counted("informer.handlerEnded"), HandlerSynced: only("informer.handlerSynced"),
		HandlerPanicked: func(h informer.HandlerInfo, kind informer.EventKind, key string, _ any) {
			of(h, "informer.handlerPanicked", record{key: key, b: kind.String()})
		},
		Applied: func(i informer.AppliedInfo) {
			e := record{key: i.Key, rv: i.ResourceVersion, num: i.Number, a: letterOf(i.Type, i.Tombstone), yes: i.Sync}
			if i.Kind != 0 {
				e.b = i.Kind.String()
			}
			put("informer.applied", e)
		},
		Distributed: func(e informer.EventInfo, listeners int) {
			put("informer.distributed", record{key: e.Key, n: int64(listeners), num: e.Number, b: e.Kind.String()})
		},
		HandlerQueued: func(h informer.HandlerInfo, q informer.QueuedInfo) {
			e := record{n: int64(q.Count), m: int64(q.Merged), num: q.Number, x: int64(q.Pending)}
			of(h, "informer.handlerQueued", e)
		},
		HandlerCalled: func(h informer.HandlerInfo, i informer.EventInfo) {
			of(h, "informer.handlerCalled", record{key: i.Key, num: i.Number, b: i.Kind.String()})
		},
		Handled: func(h informer.HandlerInfo, i informer.EventInfo, took time.Duration) {
			of(h, "informer.handled", record{key: i.Key, num: i.Number, took: took, b: i.Kind.String()})
		},
		ResyncDue: func(_ string, handlers int) { put("informer.resyncDue", record{n: int64(handlers)}) },
		ProcessError: func(_ string, err *informer.ProcessError) {
			put("informer.processError", record{key: err.Key, err: err.Err})
		},
		Mutated: func(_ string, err *informer.MutationError) { put("informer.mutated", record{key: err.Key}) },
	}
}
