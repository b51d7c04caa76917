package apiserver

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// watchFaults applies the faults that affect the events of a watch: late and repeated events,
// withheld bookmarks, interrupted streaming lists.
type watchFaults struct {
	set     *faults.Set
	request faults.Request
	// interrupt is the number of initial events until the streaming list breaks; negative means
	// never.
	interrupt int
	// sent are the last events, oldest first, as long as a fault may repeat them.
	sent []registry.Event
}

// remembered is how many events a watch keeps to repeat.
const remembered = 64

// holdPause is how often a held watch checks whether it is still held.
const holdPause = 500 * time.Millisecond

// held reports whether a fault holds the events back.
func (t *watchFaults) held() bool { return t.set.Holds(t.request) }

// withholds reports whether a fault withholds a bookmark.
func (t *watchFaults) withholds(event registry.Event) bool {
	return event.Type == api.WatchBookmark && t.set.Withholds(t.request, event.InitialEventsEnd)
}

// breaksAt reports whether a streaming list breaks before this event: after the requested number of
// events, but always before its end.
func (t *watchFaults) breaksAt(event registry.Event) bool {
	if t.interrupt < 0 {
		return false
	}
	t.interrupt--
	return t.interrupt < 0 || event.InitialEventsEnd
}

// repeat adds the frames that faults send again after an event.
func (w *watching) repeat(event registry.Event) {
	if !w.set.Active(faults.RepeatEvents) {
		w.sent = nil
		return
	}
	if event.Type == api.WatchBookmark {
		return
	}
	if len(w.sent) == remembered {
		w.sent = append(w.sent[:0], w.sent[1:]...)
	}
	w.sent = append(w.sent, event)
	for _, again := range w.sent[max(0, len(w.sent)-w.set.Repeats(w.request)):] {
		w.add(again)
	}
}

// readFault returns the error of a fault for a request that reads objects from the storage, which
// is every request but a create.
func (x *exchange) readFault(t registry.Target) error {
	if x.info.Verb == "create" {
		return nil
	}
	asked := x.info.Request
	if t.Definition.Custom {
		if failed := x.server.faults.Unconverted(asked, t.Definition.Kind); failed != nil {
			return failed
		}
	}
	if !x.server.faults.Active(faults.Unreadable) {
		return nil
	}
	view, err := x.server.store.Collection(t.Definition.Prefix).View(0)
	if err != nil {
		return nil // the resource is gone, which the request will find
	}
	var failed *api.StatusError
	view.Ascend(t.Namespace, store.Key{}, func(o *store.Object) bool {
		if t.Name != "" && t.Name != o.Key.Name {
			return true
		}
		one := asked
		one.Namespace, one.Name = o.Key.Namespace, o.Key.Name
		failed = x.server.faults.Unreadable(one, t.Definition.Prefix+"/"+o.Key.String())
		return failed == nil
	})
	if failed == nil {
		return nil
	}
	return failed
}

// intrude creates an object for the fault keeps-creating, whether or not its namespace is
// terminating.
func (s *Server) intrude(options faults.Options) {
	namespace, manager := options.Text("namespace", "default"), options.Text("manager", "creator")
	d, _ := s.catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	t := registry.Target{Definition: d, Namespace: namespace}
	if s.registry.Stored("namespaces", "", namespace) == nil {
		return
	}
	name := manager + "-" + strings.ToLower(rand.Text()[:8])
	o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
	// A refusal by another fault is as good as none.
	_, _ = s.registry.Create(context.Background(), t, o, registry.WriteOptions{FieldManager: manager, Intrusive: true})
}
