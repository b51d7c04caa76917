package trace

import (
	"strings"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// Reflector returns the hooks of the reflector of the informer with this name.
func (r *Recorder) Reflector(name string) *reflector.Trace {
	if r == nil {
		return nil
	}
	watched := func(k kind) func(reflector.EventInfo) {
		return func(e reflector.EventInfo) {
			r.put(record{kind: k, in: name, space: e.Namespace, key: e.Name, a: string(e.Type), b: e.ResourceVersion, c: e.UID})
		}
	}
	return &reflector.Trace{
		StateChanged: func(from, to reflector.Phase, on string) {
			r.put(record{kind: reflectorStateChanged, in: name, a: from.String(), b: to.String(), c: on})
		},
		PageListed: func(p reflector.PageInfo) {
			r.put(record{kind: reflectorPageListed, in: name, a: p.ResourceVersion, x: int64(p.Page), y: int64(p.Items), yes: p.More})
		},
		Listed: func(l reflector.ListInfo) {
			r.put(record{kind: reflectorListed, in: name, a: l.ResourceVersion, x: int64(l.Items), y: int64(l.Pages), z: int64(l.Duration)})
		},
		StreamingListAbandoned: func(err error) {
			r.put(record{kind: reflectorStreamingListAbandoned, in: name, c: errText(err)})
		},
		WatchStarted: func(opts api.ListOptions) {
			r.put(record{kind: reflectorWatchStarted, in: name, a: opts.ResourceVersion})
		},
		Event: watched(reflectorEvent),
		Bookmark: func(resourceVersion string, initial bool) {
			r.put(record{kind: reflectorBookmark, in: name, a: resourceVersion, yes: initial})
		},
		WatchEnded: func(w reflector.WatchInfo) {
			r.put(record{kind: reflectorWatchEnded, in: name, a: w.ResourceVersion, x: int64(w.Events), z: int64(w.Lasted), c: errText(w.Err)})
		},
		BackOff: func(delay time.Duration, err error) {
			r.put(record{kind: reflectorBackOff, in: name, z: int64(delay), c: errText(err)})
		},
		Expired: func(resourceVersion string, err error) {
			r.put(record{kind: reflectorExpired, in: name, a: resourceVersion, c: errText(err)})
		},
		IdleTimeout: func(silence time.Duration) { r.put(record{kind: reflectorIdleTimeout, in: name, z: int64(silence)}) },
		Resync:      func(err error) { r.put(record{kind: reflectorResync, in: name, c: errText(err)}) },
		StoreFailed: func(e *reflector.StoreError) {
			r.put(record{kind: reflectorStoreFailed, in: name, a: string(e.Op), b: e.ResourceVersion, c: errText(e.Err)})
		},
	}
}

// FIFO returns the hooks of the queue of the informer with this name.
func FIFO[T any](r *Recorder, name string) *deltafifo.Trace[T] {
	if r == nil {
		return nil
	}
	delta := func(k kind, key string, d deltafifo.Delta[T], depth int) {
		e := record{kind: k, in: name, key: key, a: letter(d), x: int64(depth)}
		if d.Tombstone == nil { // a tombstone's object may be the zero value
			e.b, e.c = versionOf(d.Object)
		}
		r.put(e)
	}
	deltas := func(k kind, key string, d deltafifo.Deltas[T], initial bool, depth int) {
		r.put(record{kind: k, in: name, key: key, x: int64(pack(d)), y: int64(len(d)), z: int64(depth), yes: initial})
	}
	return &deltafifo.Trace[T]{
		Queued:       func(key string, d deltafifo.Delta[T], depth int) { delta(deltafifoQueued, key, d, depth) },
		Deduplicated: func(key string, _, dropped deltafifo.Delta[T]) { delta(deltafifoDeduplicated, key, dropped, 0) },
		Ignored:      func(key string, d deltafifo.Delta[T]) { delta(deltafifoIgnored, key, d, 0) },
		Canceled:     func(key string, d deltafifo.Delta[T]) { delta(deltafifoCanceled, key, d, 0) },
		Replaced: func(resourceVersion string, items, tombstones, _ int) {
			r.put(record{kind: deltafifoReplaced, in: name, a: resourceVersion, x: int64(items), y: int64(tombstones)})
		},
		Resynced: func(queued, skipped, _ int) {
			r.put(record{kind: deltafifoResynced, in: name, x: int64(queued), y: int64(skipped)})
		},
		Popped: func(key string, d deltafifo.Deltas[T], initial bool, depth int) {
			deltas(deltafifoPopped, key, d, initial, depth)
		},
		Processed: func(key string, _ deltafifo.Deltas[T], err error) {
			r.put(record{kind: deltafifoProcessed, in: name, key: key, c: errText(err)})
		},
		Requeued: func(key string, d deltafifo.Deltas[T], depth int) { deltas(deltafifoRequeued, key, d, false, depth) },
		Synced:   func() { r.put(record{kind: deltafifoSynced, in: name}) },
		Closed:   func(depth int) { r.put(record{kind: deltafifoClosed, in: name, x: int64(depth)}) },
	}
}

// versionOf returns the resource version and UID of an object, if it has them.
func versionOf(object any) (version, uid string) {
	if v, ok := object.(interface{ GetResourceVersion() string }); ok {
		version = v.GetResourceVersion()
	}
	if u, ok := object.(interface{ GetUID() string }); ok {
		uid = u.GetUID()
	}
	return version, uid
}

// deltaLetters are the letters of Event.Deltas; packed deltas are indexes.
var deltaLetters = [8]string{"", "A", "U", "D", "R", "S", tombstone, "?"}

// tombstone is the letter of a deletion that was inferred from a list.
const tombstone = "†"

// packed is how many deltas pack keeps.
const packed = 20

func letter[T any](d deltafifo.Delta[T]) string { return letterOf(d.Type, d.Tombstone != nil) }

// Letter returns the letter of a type of [deltafifo.Deltas.Types], which marks a tombstone's.
func Letter(t deltafifo.DeltaType) string {
	kind, inferred := strings.CutSuffix(string(t), tombstone)
	return letterOf(deltafifo.DeltaType(kind), inferred)
}

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
	return &indexer.Trace{
		Added:   func(key string) { r.put(record{kind: indexerAdded, in: name, key: key}) },
		Updated: func(key string) { r.put(record{kind: indexerUpdated, in: name, key: key}) },
		Deleted: func(key string) { r.put(record{kind: indexerDeleted, in: name, key: key}) },
		Replaced: func(objects int, resourceVersion string) {
			r.put(record{kind: indexerReplaced, in: name, x: int64(objects), a: resourceVersion})
		},
		IndexFailed: func(e *indexer.IndexErrors) {
			first := record{kind: indexerIndexFailed, in: name, c: errText(e)}
			if len(e.First) > 0 {
				first.key = e.First[0].Key
			}
			r.put(first)
		},
	}
}

// Informer returns the hooks of the informer with this name.
func (r *Recorder) Informer(name string) *informer.Trace {
	if r == nil {
		return nil
	}
	whole := func(k kind) func(string) { return func(string) { r.put(record{kind: k, in: name}) } }
	handler := func(k kind, h informer.HandlerInfo) record { return record{kind: k, in: name, a: h.Handler, id: h.ID} }
	counted := func(k kind) func(informer.HandlerInfo, int) {
		return func(h informer.HandlerInfo, n int) {
			e := handler(k, h)
			e.x = int64(n)
			r.put(e)
		}
	}
	only := func(k kind) func(informer.HandlerInfo) {
		return func(h informer.HandlerInfo) { r.put(handler(k, h)) }
	}
	return &informer.Trace{
		Started: whole(informerStarted), Stopped: whole(informerStopped), Synced: whole(informerSynced),
		HandlerAdded: counted(informerHandlerAdded), HandlerRemoved: only(informerHandlerRemoved), HandlerEnded: counted(informerHandlerEnded),
		HandlerSynced: only(informerHandlerSynced), HandlerLagging: counted(informerHandlerLagging),
		HandlerStuck: func(s informer.StuckHandler) {
			e := handler(informerHandlerStuck, s.HandlerInfo)
			e.key, e.b, e.x, e.z = s.Key, s.Event.String(), int64(s.Pending), int64(s.Running)
			r.put(e)
		},
		HandlerPanicked: func(h informer.HandlerInfo, kind informer.EventKind, key string, _ any) {
			e := handler(informerHandlerPanicked, h)
			e.key, e.b = key, kind.String()
			r.put(e)
		},
		Applied: func(i informer.AppliedInfo) {
			e := record{kind: informerApplied, in: name, key: i.Key, b: letterOf(i.Type, i.Tombstone), c: i.ResourceVersion, yes: i.Sync, num: i.Number}
			if i.Kind != 0 {
				e.a = i.Kind.String()
			}
			r.put(e)
		},
		Distributed: func(e informer.EventInfo, listeners int) {
			r.put(record{kind: informerDistributed, in: name, key: e.Key, a: e.Kind.String(), x: int64(listeners), num: e.Number})
		},
		HandlerQueued: func(h informer.HandlerInfo, q informer.QueuedInfo) {
			e := handler(informerHandlerQueued, h)
			e.x, e.y, e.z, e.num = int64(q.Count), int64(q.Pending), int64(q.Merged), q.Number
			r.put(e)
		},
		HandlerCalled: func(h informer.HandlerInfo, i informer.EventInfo) {
			e := handler(informerHandlerCalled, h)
			e.key, e.b, e.num = i.Key, i.Kind.String(), i.Number
			r.put(e)
		},
		Handled: func(h informer.HandlerInfo, i informer.EventInfo, took time.Duration) {
			e := handler(informerHandled, h)
			e.key, e.b, e.z, e.num = i.Key, i.Kind.String(), int64(took), i.Number
			r.put(e)
		},
		ResyncDue: func(_ string, handlers int) { r.put(record{kind: informerResyncDue, in: name, x: int64(handlers)}) },
		ProcessError: func(_ string, err *informer.ProcessError) {
			r.put(record{kind: informerProcessError, in: name, key: err.Key, c: errText(err.Err)})
		},
		Mutated: func(_ string, err *informer.MutationError) {
			r.put(record{kind: informerMutated, in: name, key: err.Key})
		},
	}
}
