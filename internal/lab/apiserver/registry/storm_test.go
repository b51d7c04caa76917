package registry_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// storm is the shared state of concurrent writers, lists, watches and compactions.
type storm struct {
	*world
	maps    registry.Target // ConfigMaps of all namespaces
	done    chan struct{}   // closed when writing has ended
	patched int             // how often the counter was incremented
	mu      sync.Mutex      // guards patched
}

// busy does a random write to a random object. Whether it succeeds depends on the others.
func (s *storm) busy(random *rand.Rand) {
	t := s.maps
	t.Namespace = []string{"default", "gone"}[random.IntN(2)]
	t.Name = string(rune('a' + random.IntN(4)))
	text := fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"l":"%d"}},"data":{"x":"%d"}}`, t.Name, random.IntN(3),
		random.Int())
	var err error
	switch random.IntN(7) {
	case 0, 1:
		_, err = s.Create(ctx, t, tree(text), none)
	case 2:
		_, err = s.Update(ctx, t, tree(text), none)
	case 3:
		_, err = s.Patch(ctx, t, merge(text), none)
	case 4:
		_, err = s.Patch(ctx, t, merge(`{"metadata":{"finalizers":["a.b/c"]}}`), none)
	case 5:
		_, _, err = s.Delete(ctx, t, api.DeleteOptions{}, none)
	case 6:
		_, err = s.Patch(ctx, t, merge(`{"metadata":{"finalizers":null}}`), none)
	}
	s.tolerable(err)
	s.count()
}

// tolerable checks that a refusal can be explained by a race.
func (s *storm) tolerable(err error) {
	if err == nil || api.IsNotFound(err) || api.IsConflict(err) || api.IsAlreadyExists(err) ||
		api.IsNamespaceTerminating(err) || api.IsInvalid(err) {
		return
	}
	assert.NoError(s.t, err)
}

// count increments an object's number by a patch, which is retried after conflicts.
func (s *storm) count() {
	t := s.maps
	t.Namespace, t.Name = "default", "counter"
	_, err := s.Patch(ctx, t, func(o *api.Unstructured) (*api.Unstructured, error) {
		return o, o.SetNested(fmt.Sprint(counted(o)+1), "data", "count")
	}, none)
	if err == nil {
		s.mu.Lock()
		s.patched++
		s.mu.Unlock()
	} else {
		assert.True(s.t, api.IsConflict(err), "%v", err)
	}
}

func counted(o *api.Unstructured) (n int) {
	_, _ = fmt.Sscan(o.NestedString("data", "count"), &n)
	return n
}

// controlNamespace repeatedly creates a namespace and deletes it like its controller: mark it,
// empty it once, check that it is empty, finalize. It must then stay empty.
func (s *storm) controlNamespace(rounds int) {
	namespace, finalize := s.ns("gone"), s.ns("gone", "finalize")
	content := s.maps
	content.Namespace = "gone"
	for range rounds {
		_, err := s.Create(ctx, s.ns(""), tree(`{"metadata":{"name":"gone"}}`), none)
		if !assert.NoError(s.t, err) {
			return
		}
		_, _, err = s.Delete(ctx, namespace, api.DeleteOptions{}, none)
		assert.NoError(s.t, err)
		for left := 1; left > 0; {
			// An object may have a finalizer, which the writers eventually remove, and this loop
			// too.
			page, err := s.DeleteCollection(ctx, content, api.DeleteOptions{}, api.ListOptions{}, none)
			assert.NoError(s.t, err)
			for _, o := range page.Items {
				t := content
				t.Name = o.Key.Name
				_, err := s.Patch(ctx, t, merge(`{"metadata":{"finalizers":null}}`), none)
				s.tolerable(err)
			}
			rest, err := s.List(content, api.ListOptions{})
			assert.NoError(s.t, err)
			left = len(rest.Items)
		}
		_, err = s.Patch(ctx, finalize, func(o *api.Unstructured) (*api.Unstructured, error) {
			return o, o.SetNested([]any{}, "spec", "finalizers")
		}, none)
		assert.NoError(s.t, err)
		_, err = s.Get(namespace, api.GetOptions{})
		assert.True(s.t, api.IsNotFound(err), "%v", err)
		rest, err := s.List(content, api.ListOptions{})
		assert.NoError(s.t, err)
		assert.Empty(s.t, rest.Items, "objects in a namespace that does not exist")
	}
}

// replica is the cache of an informer: a list in pages, then the changes.
type replica struct {
	storm     *storm
	selection api.ListOptions
	objects   map[store.Key]*store.Object
	version   uint64
	lists     int
}

// list starts again, in small pages.
func (r *replica) list() (*registry.Watch, bool) {
	options := r.selection
	options.Limit = 2
	r.objects, r.version = map[store.Key]*store.Object{}, 0
	for {
		page, err := r.storm.List(r.storm.maps, options)
		if api.IsExpired(err) {
			return nil, false
		}
		if !assert.NoError(r.storm.t, err) {
			return nil, false
		}
		assert.True(r.storm.t, r.version == 0 || r.version == page.Version, "pages of different versions")
		r.version = page.Version
		for _, o := range page.Items {
			assert.NotContains(r.storm.t, r.objects, o.Key, "an object on two pages")
			assert.LessOrEqual(r.storm.t, o.Version, page.Version)
			r.objects[o.Key] = o
		}
		if options.Continue = page.Continue; page.Continue == "" {
			break
		}
	}
	options = r.selection
	options.ResourceVersion = fmt.Sprint(r.version)
	watch, err := r.storm.Watch(r.storm.maps, options)
	r.lists++
	return watch, assert.NoError(r.storm.t, err)
}

// apply checks an event against the replica and applies it.
func (r *replica) apply(e registry.Event) {
	_, known := r.objects[e.Object.Key]
	assert.Greater(r.storm.t, e.Version, r.version)
	assert.Equal(r.storm.t, e.Type != api.WatchAdded, known, "%s of %v at %d", e.Type, e.Object.Key, e.Version)
	assert.Equal(r.storm.t, e.Version, e.Object.Version)
	r.version = e.Version
	if e.Type == api.WatchDeleted {
		delete(r.objects, e.Object.Key)
	} else {
		r.objects[e.Object.Key] = e.Object
	}
}

// follow watches until writing has ended and all events are read.
func (r *replica) follow(ctx context.Context) {
	watch, ok := r.list()
	for {
		for !ok {
			watch, ok = r.list()
		}
		last := isClosed(r.storm.done)
		events, err := next(ctx, watch)
		switch {
		case api.IsExpired(err):
			ok = false
			continue
		case err != nil && last:
			return // ctx ends after done, and next returns pending events first
		}
		if err == nil {
			for _, e := range events {
				r.apply(e)
			}
		}
	}
}

// Concurrent writers, namespaces that come and go, and compaction: no write is lost, pages show one
// version, watches report every change of their selection and nothing else, and a namespace that
// was found empty while terminating stays empty.
func TestStorm(t *testing.T) {
	const writers, writes = 4, 400
	s := &storm{world: newWorld(t), done: make(chan struct{})}
	s.maps = s.at("configmaps", "", "")
	s.make(s.cm(""), `{"metadata":{"name":"counter"},"data":{"count":"0"}}`)
	watching, stop := context.WithCancel(t.Context())
	defer stop()

	var replicas []*replica
	var reading, writing, forgetting sync.WaitGroup
	for _, selection := range []api.ListOptions{
		{}, {}, {LabelSelector: "l=1"}, {LabelSelector: "l!=1"}, {FieldSelector: "metadata.namespace=gone"},
		{FieldSelector: "metadata.name=a", LabelSelector: "l in (0,2)"},
	} {
		r := &replica{storm: s, selection: selection}
		replicas = append(replicas, r)
		reading.Go(func() { r.follow(watching) })
	}
	for i := range writers {
		random := rand.New(rand.NewPCG(uint64(i), rand.Uint64()))
		writing.Go(func() {
			for range writes {
				s.busy(random)
			}
		})
	}
	writing.Go(func() { s.controlNamespace(30) })
	forgetting.Go(func() {
		for !isClosed(s.done) {
			before := s.store.Version()
			for s.store.Version() < before+200 && !isClosed(s.done) {
				_, _ = s.Get(s.ns("default"), api.GetOptions{})
			}
			s.store.Compact()
		}
	})
	writing.Wait()
	close(s.done)
	stop()
	forgetting.Wait()
	reading.Wait()

	counter := s.maps
	counter.Namespace, counter.Name = "default", "counter"
	assert.Equal(t, s.patched, counted(s.get(counter)))
	for _, r := range replicas {
		page, err := s.List(s.maps, r.selection)
		require.NoError(t, err)
		want := map[store.Key]*store.Object{}
		for _, o := range page.Items {
			want[o.Key] = o
		}
		assert.True(t, maps.Equal(want, r.objects), "%+v: %d objects, the list has %d", r.selection, len(r.objects),
			len(want))
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
