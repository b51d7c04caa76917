package indexer

import (
	"iter"
	"maps"
	"slices"
)

// Store is the textbook form of [Interface], which documents the methods. It adds a key function,
// typed errors and a trace to the threadSafeMap of store.go, as client-go's cache does.
type Store[T any] struct {
	*threadSafeMap[T]
	config Config[T]
}

// New returns an empty store in the textbook form. It panics without a KeyFunc.
func New[T any](config Config[T]) *Store[T] {
	if config.KeyFunc == nil {
		panic("indexer.New: Config.KeyFunc is required")
	}
	s := &Store[T]{threadSafeMap: newThreadSafeMap[T](), config: config}
	s.threadSafeMap.AddIndexers(config.Indexers)
	return s
}

func (s *Store[T]) Add(obj T) error {
	key, err := s.config.Key(obj)
	if err != nil {
		return err
	}
	_, _, err = s.Put(key, obj)
	return err
}

func (s *Store[T]) Update(obj T) error { return s.Add(obj) }

func (s *Store[T]) Put(key string, obj T) (old T, existed bool, err error) {
	old, existed, errs := s.threadSafeMap.Update(key, obj)
	s.config.Trace.ReportStored(key, existed)
	return old, existed, s.config.Trace.ReportFailed(errs)
}

func (s *Store[T]) Delete(obj T) error {
	key, err := s.config.Key(obj)
	if err != nil {
		return err
	}
	s.DeleteKey(key)
	return nil
}

func (s *Store[T]) DeleteKey(key string) {
	s.config.Trace.ReportDeleted(key, s.threadSafeMap.Delete(key))
}

func (s *Store[T]) Replace(list []T, resourceVersion string) error {
	items := make(map[string]T, len(list))
	for _, obj := range list {
		key, err := s.config.Key(obj)
		if err != nil {
			return err
		}
		items[key] = obj
	}
	objects := len(items)
	errs := s.threadSafeMap.Replace(items)
	s.config.Trace.ReportReplaced(objects, resourceVersion)
	return s.config.Trace.ReportFailed(errs)
}

func (s *Store[T]) Resync() error { return nil }

func (s *Store[T]) Get(obj T) (stored T, exists bool) {
	key, err := s.config.Key(obj)
	if err != nil {
		return stored, false
	}
	return s.GetByKey(key)
}

func (s *Store[T]) All() iter.Seq2[string, T] {
	// The loop runs without the lock and may write to the store.
	return func(yield func(string, T) bool) { maps.All(s.copyItems())(yield) }
}

func (s *Store[T]) ByIndex(name, value string) ([]T, error) {
	_, objects, err := s.find(name, value)
	return objects, err
}

func (s *Store[T]) IndexKeys(name, value string) ([]string, error) {
	keys, _, err := s.find(name, value)
	slices.Sort(keys)
	return keys, err
}

func (s *Store[T]) Index(name string, obj T) ([]T, error) {
	values, err := s.config.IndexValues(name, s.GetIndexers()[name], obj)
	if err != nil {
		return nil, err
	}
	_, objects, err := s.find(name, values...)
	return objects, err
}

func (s *Store[T]) AddIndexers(added Indexers[T]) error {
	taken, errs := s.threadSafeMap.AddIndexers(added)
	if len(taken) > 0 {
		return &IndexerConflictError{Names: taken}
	}
	return s.config.Trace.ReportFailed(errs)
}

// Names returns the names of the indexes, sorted.
func (i Indexers[T]) Names() []string { return slices.Sorted(maps.Keys(i)) }
