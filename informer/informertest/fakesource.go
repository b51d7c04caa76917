package informertest

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"orrery/restclient/api"
)

// Object is the constraint for objects of a [FakeSource].
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// FakeSource is an in-memory collection that is listed and watched like one on an API server: a
// ListerWatcher for tests.
//
// It keeps a version counter and the history of changes. A list has a version, and a watch replays
// the changes after the requested version, so nothing is lost between the two (client-go's fake
// client loses events: kubernetes issues 87472 and 95897). A version that [FakeSource.Expire] has
// dropped from the history is answered with 410, as after an etcd compaction.
//
// Methods switch on other behaviours of a server: failing requests, broken or silent connections,
// bookmarks, pages, streaming lists that are supported, refused or ignored.
//
// All methods are safe for concurrent use. The source starts no goroutines, so it works inside a
// synctest bubble; every wait ends with the context of the request. Only stamp copies objects:
// treat an object passed to the source as immutable.
type FakeSource[T Object] struct {
	stamp func(obj T, resourceVersion string) T

	mu       sync.Mutex // guards everything below
	version  uint64
	objects  map[string]T
	history  []change[T]
	oldest   uint64 // the oldest version at which a watch may start
	pages    map[string]page[T]
	watchers map[*fakeWatcher[T]]struct{}
	requests []Request

	behaviour  Behaviour
	listFaults []error
	watchFault []error
	hold       chan struct{} // while not nil, requests wait until it is closed
}

// change is one entry of the history.
type change[T any] struct {
	version uint64
	event   api.WatchEvent[T]
}

// page is the state of a continue token: the rest of a list as of its first page.
type page[T any] struct {
	version string
	rest    []T
}

// Request is a request to the source.
type Request struct {
	Verb    string // "list" or "watch"
	Options api.ListOptions
	At      time.Time
}

// NewFakeSource returns a new source at version 1. stamp returns obj with its resourceVersion set;
// it may change obj or return a copy.
func NewFakeSource[T Object](stamp func(obj T, resourceVersion string) T) *FakeSource[T] {
	return &FakeSource[T]{
		stamp:    stamp,
		version:  1,
		oldest:   1,
		objects:  map[string]T{},
		pages:    map[string]page[T]{},
		watchers: map[*fakeWatcher[T]]struct{}{},
	}
}

// NewNamespaceSource returns a new source of namespaces. Stamping copies the namespace's metadata,
// so the caller's object is unchanged.
func NewNamespaceSource() *FakeSource[*api.Namespace] {
	return NewFakeSource(func(ns *api.Namespace, resourceVersion string) *api.Namespace {
		stamped := *ns
		stamped.ResourceVersion = resourceVersion
		return &stamped
	})
}

// Namespace returns a namespace of that name with labels given as key, value, key, value, ...
func Namespace(name string, labels ...string) *api.Namespace {
	ns := &api.Namespace{TypeMeta: api.TypeMeta{Kind: "Namespace", APIVersion: "v1"}}
	ns.Name = name
	for i := 0; i+1 < len(labels); i += 2 {
		if ns.Labels == nil {
			ns.Labels = map[string]string{}
		}
		ns.Labels[labels[i]] = labels[i+1]
	}
	return ns
}

// Add stores obj and sends ADDED to the watches. It returns the object as stored.
func (s *FakeSource[T]) Add(obj T) T { return s.put(api.WatchAdded, obj) }

// Modify stores obj and sends MODIFIED to the watches. It returns the object as stored.
func (s *FakeSource[T]) Modify(obj T) T { return s.put(api.WatchModified, obj) }

func (s *FakeSource[T]) put(kind api.WatchEventType, obj T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	obj = s.stamp(obj, s.versionLocked())
	s.objects[keyOf(obj)] = obj
	s.recordLocked(kind, obj)
	return obj
}

// Delete removes the object with the key and sends DELETED to the watches, with its last state at
// the version of the removal. It reports whether there was one.
func (s *FakeSource[T]) Delete(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj, found := s.objects[key]
	if !found {
		return false
	}
	s.version++
	delete(s.objects, key)
	s.recordLocked(api.WatchDeleted, s.stamp(obj, s.versionLocked()))
	return true
}

// Lose removes the object with the key without an event, as seen by a client that was disconnected.
// Only a new list shows it.
func (s *FakeSource[T]) Lose(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	delete(s.objects, key)
}

// AdvanceVersion advances the version as a change to another collection does: no event is sent.
func (s *FakeSource[T]) AdvanceVersion() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
}

func (s *FakeSource[T]) recordLocked(kind api.WatchEventType, obj T) {
	event := api.WatchEvent[T]{Type: kind, Object: obj, ResourceVersion: obj.GetResourceVersion()}
	s.history = append(s.history, change[T]{s.version, event})
	for w := range s.watchers {
		w.pushLocked(event)
	}
}

// ResourceVersion returns the current version.
func (s *FakeSource[T]) ResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versionLocked()
}

func (s *FakeSource[T]) versionLocked() string { return strconv.FormatUint(s.version, 10) }

// Objects returns a copy of the content, by key.
func (s *FakeSource[T]) Objects() map[string]T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects)
}

// Watchers returns the number of open watches.
func (s *FakeSource[T]) Watchers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers)
}

// Requests returns the requests so far, in order.
func (s *FakeSource[T]) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// List answers like an API server: everything, or a page if opts has a limit. Like a server with a
// watch cache it ignores the limit of a request at version "0", unless PageAlways is set.
func (s *FakeSource[T]) List(ctx context.Context, opts api.ListOptions) (*api.List[T], error) {
	if err := s.admit(ctx, "list", opts); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	current := page[T]{version: s.versionLocked()}
	if opts.Continue != "" {
		var known bool
		if current, known = s.pages[opts.Continue]; !known {
			return nil, Expired("the continue token is too old")
		}
	} else {
		if asked, err := strconv.ParseUint(opts.ResourceVersion, 10, 64); err == nil && asked > s.version {
			return nil, TooLargeResourceVersion(asked, s.version)
		}
		current.rest = s.sortedLocked()
	}
	list := &api.List[T]{Items: current.rest}
	list.ResourceVersion = current.version
	limited := opts.Limit > 0 && (opts.ResourceVersion != "0" || s.behaviour.PageAlways)
	if limited && int64(len(current.rest)) > opts.Limit {
		list.Items = slices.Clone(current.rest[:opts.Limit])
		list.Continue = strconv.Itoa(len(s.pages)+1) + "@" + current.version
		s.pages[list.Continue] = page[T]{current.version, current.rest[opts.Limit:]}
	}
	return list, nil
}

// sortedLocked returns the content in the order of the keys.
func (s *FakeSource[T]) sortedLocked() []T {
	out := make([]T, 0, len(s.objects))
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		out = append(out, s.objects[key])
	}
	return out
}

// Watch answers like an API server. At version "" or "0" it sends the present content first, as
// ADDED events; at any other version the history after it. It refuses a version that is no longer
// in the history with 410.
func (s *FakeSource[T]) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error) {
	if err := s.admit(ctx, "watch", opts); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	streaming := opts.SendInitialEvents && s.behaviour.Streaming != StreamingIgnored
	if streaming && s.behaviour.Streaming == StreamingRefused {
		return nil, StatusError(422, api.ReasonInvalid, "sendInitialEvents: Forbidden: the feature is switched off")
	}
	w := newFakeWatcher(ctx, s, opts)
	from, err := strconv.ParseUint(opts.ResourceVersion, 10, 64)
	switch {
	case err == nil && from > s.version:
		return nil, TooLargeResourceVersion(from, s.version)
	case streaming || err != nil || from == 0:
		w.queue = s.initialLocked(streaming)
	case from < s.oldest:
		return nil, Expired("too old resource version: " + opts.ResourceVersion)
	default:
		for _, c := range s.history {
			if c.version > from {
				w.queue = append(w.queue, c.event)
			}
		}
	}
	s.watchers[w] = struct{}{}
	if opts.TimeoutSeconds > 0 && !s.behaviour.Endless {
		w.limit = time.AfterFunc(time.Duration(opts.TimeoutSeconds)*time.Second, func() { w.end(io.EOF) })
	}
	return w, nil
}

// initialLocked returns the content as ADDED events; if streaming, followed by the bookmark that
// ends them.
func (s *FakeSource[T]) initialLocked(streaming bool) []api.WatchEvent[T] {
	var events []api.WatchEvent[T]
	for _, obj := range s.sortedLocked() {
		events = append(events, api.WatchEvent[T]{Type: api.WatchAdded, Object: obj,
			ResourceVersion: obj.GetResourceVersion()})
	}
	if streaming && s.behaviour.Streaming != StreamingWithoutBookmark {
		events = append(events, api.WatchEvent[T]{
			Type: api.WatchBookmark, ResourceVersion: s.versionLocked(), InitialEventsEnd: true})
	}
	return events
}

func keyOf(obj Object) string {
	if ns := obj.GetNamespace(); ns != "" {
		return ns + "/" + obj.GetName()
	}
	return obj.GetName()
}
