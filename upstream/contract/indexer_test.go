package contract

import (
	"iter"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"orrery/indexer"
	"orrery/indexer/indexertest"
)

// TestIndexer runs the contract of package indexer against client-go's store.
func TestIndexer(t *testing.T) {
	indexertest.Run(t, indexertest.Implementation{
		Name: "k8s.io/client-go/tools/cache.NewIndexer",
		New:  newCache,
		Lacks: map[indexertest.Capability]string{
			indexertest.ReportsIndexErrors: "an index function's error is a panic in the store, on the goroutine " +
				"of the informer, with the store half updated",
			indexertest.TypedErrors:      "unknown indexes and conflicts are texts; KeyError is a type of its own",
			indexertest.Traces:           "there are no hooks",
			indexertest.ReadersDoNotWait: "one read-write lock for everything, held while index functions run",
		},
	})
}

// cachedObject is the stored object: the original reads the resource version from its metadata.
type cachedObject struct {
	metav1.ObjectMeta
	object *indexertest.Object
}

func cached(o *indexertest.Object) *cachedObject {
	return &cachedObject{ObjectMeta: metav1.ObjectMeta{ResourceVersion: o.Version}, object: o}
}

func uncached(all []any) []*indexertest.Object {
	objects := make([]*indexertest.Object, 0, len(all))
	for _, o := range all {
		objects = append(objects, o.(*cachedObject).object)
	}
	return objects
}

// cacheIndexers adapts index functions to the original.
func cacheIndexers(indexers indexer.Indexers[*indexertest.Object]) cache.Indexers {
	all := cache.Indexers{}
	for name, f := range indexers {
		all[name] = func(o any) ([]string, error) { return f(o.(*cachedObject).object) }
	}
	return all
}

// cacheStore adapts the original to our interface.
type cacheStore struct{ cache cache.Indexer }

func newCache(config indexer.Config[*indexertest.Object]) indexertest.Indexer {
	keyFunc := func(o any) (string, error) {
		if key, ok := o.(cache.ExplicitKey); ok {
			return string(key), nil
		}
		return config.KeyFunc(o.(*cachedObject).object)
	}
	return cacheStore{cache.NewIndexer(keyFunc, cacheIndexers(config.Indexers))}
}

func (s cacheStore) Add(o *indexertest.Object) error    { return s.cache.Add(cached(o)) }
func (s cacheStore) Update(o *indexertest.Object) error { return s.cache.Update(cached(o)) }

// Put makes the same two calls as the original's informer; another writer may come between them.
func (s cacheStore) Put(key string, o *indexertest.Object) (*indexertest.Object, bool, error) {
	old, existed := s.GetByKey(key)
	return old, existed, s.Update(o)
}

func (s cacheStore) Delete(o *indexertest.Object) error { return s.cache.Delete(cached(o)) }

// DeleteKey names an object that the caller does not have, in the original's way.
func (s cacheStore) DeleteKey(key string) { _ = s.cache.Delete(cache.ExplicitKey(key)) }

func (s cacheStore) Replace(items []*indexertest.Object, resourceVersion string) error {
	all := make([]any, 0, len(items))
	for _, o := range items {
		all = append(all, cached(o))
	}
	return s.cache.Replace(all, resourceVersion)
}

func (s cacheStore) Resync() error { return s.cache.Resync() }

func (s cacheStore) Get(o *indexertest.Object) (*indexertest.Object, bool) {
	return found(s.cache.Get(cached(o)))
}

func (s cacheStore) GetByKey(key string) (*indexertest.Object, bool) {
	return found(s.cache.GetByKey(key))
}

func found(o any, exists bool, err error) (*indexertest.Object, bool) {
	if !exists || err != nil {
		return nil, false
	}
	return o.(*cachedObject).object, true
}

func (s cacheStore) List() []*indexertest.Object { return uncached(s.cache.List()) }
func (s cacheStore) ListKeys() []string          { return s.cache.ListKeys() }
func (s cacheStore) Len() int                    { return len(s.cache.ListKeys()) }

func (s cacheStore) Index(name string, o *indexertest.Object) ([]*indexertest.Object, error) {
	all, err := s.cache.Index(name, cached(o))
	return uncached(all), err
}

func (s cacheStore) ByIndex(name, value string) ([]*indexertest.Object, error) {
	all, err := s.cache.ByIndex(name, value)
	return uncached(all), err
}

func (s cacheStore) IndexKeys(name, value string) ([]string, error) {
	return s.cache.IndexKeys(name, value)
}

func (s cacheStore) ListIndexFuncValues(name string) []string {
	return s.cache.ListIndexFuncValues(name)
}

func (s cacheStore) GetIndexers() indexer.Indexers[*indexertest.Object] {
	all := indexer.Indexers[*indexertest.Object]{}
	for name, f := range s.cache.GetIndexers() {
		all[name] = func(o *indexertest.Object) ([]string, error) { return f(cached(o)) }
	}
	return all
}

func (s cacheStore) AddIndexers(added indexer.Indexers[*indexertest.Object]) error {
	return s.cache.AddIndexers(cacheIndexers(added))
}

// All iterates over a list, since the original has no iterator.
func (s cacheStore) All() iter.Seq2[string, *indexertest.Object] {
	return func(yield func(string, *indexertest.Object) bool) {
		for _, o := range s.List() {
			if !yield(o.Key(), o) {
				return
			}
		}
	}
}

func (s cacheStore) Snapshot() indexer.Snapshot {
	shot := indexer.Snapshot{Keys: s.ListKeys(), Indices: map[string]map[string][]string{}}
	slices.Sort(shot.Keys)
	for name := range s.cache.GetIndexers() {
		shot.Indices[name] = map[string][]string{}
		for _, value := range s.ListIndexFuncValues(name) {
			keys, _ := s.IndexKeys(name, value)
			slices.Sort(keys)
			shot.Indices[name][value] = keys
		}
	}
	return shot
}
