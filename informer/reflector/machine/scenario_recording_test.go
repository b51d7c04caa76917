package machine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// recordingSource records the requests.
type recordingSource struct {
	*informertest.FakeSource[*api.Namespace]
	journal *journal
}

func (r *recordingSource) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	r.journal.record("LIST rv=%q%s", opts.ResourceVersion, options(opts))
	return r.FakeSource.List(ctx, opts)
}

func (r *recordingSource) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	r.journal.record("WATCH rv=%q%s", opts.ResourceVersion, options(opts))
	if isShort(opts) {
		opts.TimeoutSeconds = 36 // the mean of the random values
	}
	return r.FakeSource.Watch(ctx, opts)
}

func options(opts api.ListOptions) string {
	var out string
	if opts.ResourceVersionMatch != "" {
		out += " match=" + string(opts.ResourceVersionMatch)
	}
	if opts.Limit != 0 {
		out += fmt.Sprintf(" limit=%d", opts.Limit)
	}
	if opts.Continue != "" {
		out += " continue=" + opts.Continue
	}
	if opts.SendInitialEvents {
		out += " sendInitialEvents"
	}
	if isShort(opts) {
		out += " short"
	}
	return out
}

// isShort reports whether a watch has a limit of less than a minute. Its exact value is random.
func isShort(opts api.ListOptions) bool { return opts.TimeoutSeconds > 0 && opts.TimeoutSeconds < 60 }

// recordingStore is a store that records its calls.
type recordingStore struct {
	journal *journal
	content map[string]*api.Namespace // written under the lock of the Reflector, read when it is idle

	mu   sync.Mutex
	fail map[string]bool
}

// failNext makes the next call of op fail.
func (s *recordingStore) failNext(op string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail[op] = true
}

func (s *recordingStore) failing(op string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	failing := s.fail[op]
	delete(s.fail, op)
	return failing
}

func (s *recordingStore) call(op, text string) error {
	if s.failing(op) {
		s.journal.record("  store.%s %s: failed", op, text)
		return errors.New("the store is full")
	}
	s.journal.record("  store.%s %s", op, text)
	return nil
}

func (s *recordingStore) put(op string, ns *api.Namespace) error {
	if err := s.call(op, ns.Name+"@"+ns.ResourceVersion); err != nil {
		return err
	}
	s.content[ns.Name] = ns
	return nil
}

func (s *recordingStore) Add(ns *api.Namespace) error    { return s.put("Add", ns) }
func (s *recordingStore) Update(ns *api.Namespace) error { return s.put("Update", ns) }

func (s *recordingStore) Delete(ns *api.Namespace) error {
	if err := s.call("Delete", ns.Name+"@"+ns.ResourceVersion); err != nil {
		return err
	}
	delete(s.content, ns.Name)
	return nil
}

func (s *recordingStore) Replace(items []*api.Namespace, rv string) error {
	names := make([]string, 0, len(items))
	for _, ns := range items {
		names = append(names, ns.Name)
	}
	if len(names) > 9 {
		names = []string{fmt.Sprintf("%d objects", len(names))}
	}
	if err := s.call("Replace", fmt.Sprintf("%v at %q", names, rv)); err != nil {
		return err
	}
	clear(s.content)
	for _, ns := range items {
		s.content[ns.Name] = ns
	}
	return nil
}

func (s *recordingStore) Resync() error { return s.call("Resync", "") }

func (s *recordingStore) Bookmark(rv string) { s.journal.record("  store.Bookmark %q", rv) }
