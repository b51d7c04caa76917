package nsctltest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"orrery/informer/informertest"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// world is a server with namespaces, types and content for the model test, without HTTP: the
// deleter's clients call it. Each request takes effect at one instant. Then, as the seed decides,
// its answer is lost, refused, delayed or wrong. At each step the world checks the properties. The
// random numbers of a request depend on the request and on how often it was made, not on a common
// source. So they are the same in each run of a seed, in whatever order the goroutines run.
type world struct {
	seed   uint64
	odds   int                                      // one request in fault is refused, one lost, and one in four times as many is slow
	source *informertest.FakeSource[*api.Namespace] // stores and watches namespaces

	mu         sync.Mutex // guards the fields below
	hostile    bool       // whether requests may fail
	steps      int
	asked      map[string]uint64 // number of times each request was made
	types      map[api.GroupVersionResource]*worldType
	stale      map[string]bool                      // groups missing from discovery
	content    map[string]map[worldKey]*worldObject // content by namespace
	born       int                                  // number of objects ever created; makes names and UIDs unique
	deletedAt  map[string]time.Time                 // by UID
	gone       int                                  // finalized namespaces
	violations []string
}

type worldType struct {
	verbs   []string
	forbids bool // listing is forbidden
}

type worldKey struct {
	gvr  api.GroupVersionResource
	name string
}

type worldObject struct {
	finalizers []string
	deleted    bool
	ends       time.Time // when a deleted pod terminates
	grace      time.Duration
}

const worldGrace = 5 * time.Second // the grace period, in which servers may not know of a deletion yet

func newWorld(seed uint64) *world {
	w := &world{
		seed: seed, odds: []int{10, 20, 40, 100}[seed%4], source: informertest.NewNamespaceSource(), hostile: true, asked: map[string]uint64{}, stale: map[string]bool{},
		types: map[api.GroupVersionResource]*worldType{}, content: map[string]map[worldKey]*worldObject{}, deletedAt: map[string]time.Time{},
	}
	all := []string{"create", "delete", "deletecollection", "get", "list"}
	for _, gvr := range []api.GroupVersionResource{
		api.PodsResource, {Version: "v1", Resource: "secrets"}, {Version: "v1", Resource: "configmaps"}, {Group: "apps", Version: "v1", Resource: "deployments"},
	} {
		w.types[gvr] = &worldType{verbs: all}
	}
	w.types[api.GroupVersionResource{Version: "v1", Resource: "services"}] = &worldType{verbs: []string{"create", "delete", "get", "list"}}
	w.types[api.GroupVersionResource{Group: "odd.example", Version: "v1", Resource: "blind"}] = &worldType{verbs: []string{"create", "delete", "deletecollection"}}
	w.types[api.GroupVersionResource{Group: "far.example", Version: "v1", Resource: "things"}] = &worldType{verbs: all}
	w.types[gadgets("v1")] = &worldType{verbs: all}
	return w
}

// draw returns random numbers that depend on a request and on how often it was made.
func (w *world) drawLocked(what string) *rand.Rand {
	w.asked[what]++
	hash := fnv.New64a()
	hash.Write([]byte(what))
	return rand.New(rand.NewPCG(w.seed, hash.Sum64()+w.asked[what]))
}

// passKey is the context key of the namespace that a request is made for.
type passKey struct{}

// passContext starts passes one after the other; two at the same instant would have no fixed order.
func (w *world) passContext(ctx context.Context, namespace string) context.Context {
	w.mu.Lock()
	pause := time.Duration(w.drawLocked("pass of " + namespace).IntN(1_000_000))
	w.mu.Unlock()
	time.Sleep(pause)
	return context.WithValue(ctx, passKey{}, namespace)
}

var errLost = fmt.Errorf("the answer was lost: %w", io.ErrUnexpectedEOF)

// do makes one request; it calls execute with the mutex held.
func (w *world) do(ctx context.Context, what string, execute func() error) error {
	w.mu.Lock()
	r := w.drawLocked(fmt.Sprint(what, " for ", ctx.Value(passKey{})))
	takes := time.Duration(r.Int64N(int64(20*time.Millisecond))) + 1
	before, lost := error(nil), false
	if w.hostile {
		if r.IntN(4*w.odds) == 0 {
			takes += time.Duration(r.Int64N(int64(10 * time.Second)))
		}
		switch r.IntN(w.odds) {
		case 0:
			before = refusals[r.IntN(len(refusals))]
		case 1:
			lost = true
		}
	}
	w.mu.Unlock()

	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps++
	if before != nil {
		return before
	}
	err := execute()
	if lost {
		return errLost
	}
	return err
}

var refusals = []error{
	api.NewStatusError(*Status(403, api.ReasonForbidden, "forbidden")), api.NewStatusError(*Status(404, api.ReasonNotFound, "the server could not find the requested resource")),
	api.NewStatusError(*Status(405, api.ReasonMethodNotAllowed, "not allowed")), api.NewStatusError(*Status(409, api.ReasonConflict, "conflict")),
	api.NewStatusError(*Status(429, api.ReasonTooManyRequests, "not so fast")), api.NewStatusError(*Status(500, api.ReasonInternalError, "out of order")),
	api.NewStatusError(*Status(503, api.ReasonServiceUnavailable, "not now")), io.ErrUnexpectedEOF, errors.New("connection reset"),
}

var errNotFound = api.NewStatusError(*Status(404, api.ReasonNotFound, "not found"))

func (w *world) violatedLocked(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// leftLocked returns the content of a namespace, visible to clients or not.
func (w *world) leftLocked(namespace string) (keys []worldKey) {
	for key, object := range w.content[namespace] {
		if object.deleted && len(object.finalizers) == 0 && !time.Now().Before(object.ends) {
			delete(w.content[namespace], key)
			continue
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b worldKey) int { return compareStrings(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Namespaces.

func (w *world) Get(ctx context.Context, name string, _ api.GetOptions) (found *api.Namespace, err error) {
	err = w.do(ctx, "get "+name, func() error {
		if found = w.source.Objects()[name]; found == nil {
			return errNotFound
		}
		return nil
	})
	return orNil(found, err)
}

func orNil[T any](value *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

func (w *world) UpdateStatus(ctx context.Context, sent *api.Namespace, _ api.UpdateOptions) (*api.Namespace, error) {
	return w.update(ctx, "status", sent, func(ns *api.Namespace) { ns.Status = sent.Status })
}

func (w *world) UpdateSubresource(ctx context.Context, _, subresource string, sent *api.Namespace, _ api.UpdateOptions) (*api.Namespace, error) {
	return w.update(ctx, subresource, sent, func(ns *api.Namespace) {
		held := slices.Contains(ns.Spec.Finalizers, api.FinalizerKubernetes)
		ns.Spec.Finalizers = sent.Spec.Finalizers
		if left := w.leftLocked(ns.Name); held && !slices.Contains(ns.Spec.Finalizers, api.FinalizerKubernetes) && len(left) > 0 {
			w.violatedLocked("namespace %s was finalized although it holds %v", ns.Name, left)
		}
	})
}

func (w *world) update(ctx context.Context, what string, sent *api.Namespace, change func(*api.Namespace)) (stored *api.Namespace, err error) {
	err = w.do(ctx, what+" "+sent.Name, func() error {
		current := w.source.Objects()[sent.Name]
		switch {
		case current == nil:
			return errNotFound
		case current.UID != sent.UID || current.ResourceVersion != sent.ResourceVersion:
			return refusals[3]
		}
		updated := *current
		change(&updated)
		stored = w.storeLocked(&updated)
		return nil
	})
	return orNil(stored, err)
}

// storeLocked stores a namespace, or removes a deleted one without finalizers.
func (w *world) storeLocked(ns *api.Namespace) *api.Namespace {
	if ns.DeletionTimestamp != nil && len(ns.Spec.Finalizers) == 0 && len(ns.Finalizers) == 0 {
		w.source.Delete(ns.Name)
		w.gone++
		return ns
	}
	return w.source.Modify(ns)
}

// Discovery.

func (w *world) PreferredNamespacedResources(ctx context.Context, _ time.Time) (lists []*api.APIResourceList, err error) {
	var missing *discovery.ErrGroupDiscoveryFailed
	err = w.do(ctx, "discover", func() error {
		groups := map[string]*api.APIResourceList{}
		for gvr, t := range w.types {
			gv := api.GroupVersion{Group: gvr.Group, Version: gvr.Version}
			if w.stale[gvr.Group] {
				if missing == nil {
					missing = &discovery.ErrGroupDiscoveryFailed{Groups: map[api.GroupVersion]error{}}
				}
				missing.Groups[gv] = &discovery.StaleGroupVersionError{GroupVersion: gv}
				continue
			}
			if groups[gvr.Group] == nil {
				groups[gvr.Group] = &api.APIResourceList{GroupVersion: gv.String()}
			}
			list := groups[gvr.Group]
			list.Resources = append(list.Resources, api.APIResource{Name: gvr.Resource, Namespaced: true, Verbs: t.verbs})
		}
		for _, group := range slices.Sorted(maps.Keys(groups)) {
			lists = append(lists, groups[group])
		}
		if w.hostile && w.drawLocked(fmt.Sprint("upgrade ", ctx.Value(passKey{}))).IntN(8) == 0 {
			w.moveLocked() // the previous answer is out of date
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return lists, missing
	}
	return lists, nil
}

func (w *world) Invalidate() {}

// gadgets is the type that moves between versions.
func gadgets(version string) api.GroupVersionResource {
	return api.GroupVersionResource{Group: "moving.example", Version: version, Resource: "gadgets"}
}

// moveLocked serves gadgets only at the other version, as after an upgrade. The objects stay.
func (w *world) moveLocked() {
	from, to := gadgets("v1"), gadgets("v1beta1")
	if w.types[from] == nil {
		from, to = to, from
	}
	w.types[to] = w.types[from]
	delete(w.types, from)
	for _, objects := range w.content {
		for key, object := range maps.Clone(objects) {
			if key.gvr == from {
				delete(objects, key)
				objects[worldKey{to, key.name}] = object
			}
		}
	}
}
