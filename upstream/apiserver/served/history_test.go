package served_test

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// history is a handler that replays its notifications and records the first impossible one.
type history struct {
	mu                             sync.Mutex // guards the fields below
	present                        map[string]runtime.Object
	added, updated, deleted, finds int // finds are deletions detected by a list
	contradiction                  error
}

// OnAdd requires an unknown object.
func (h *history) OnAdd(obj any, _ bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.added++
	key := h.keyLocked(obj)
	if _, ok := h.present[key]; ok {
		h.contradictLocked("%s was added and had been there", key)
	}
	h.putLocked(key, obj)
}

// OnUpdate requires a known object.
func (h *history) OnUpdate(old, obj any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.updated++
	key := h.keyLocked(obj)
	if h.present[key] != old {
		h.contradictLocked("%s was updated from a version that was not the one before", key)
	}
	h.putLocked(key, obj)
}

// OnDelete requires a known object.
func (h *history) OnDelete(obj any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deleted++
	key := ""
	if unseen, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		h.finds++
		key = unseen.Key
	} else {
		key = h.keyLocked(obj)
	}
	if _, ok := h.present[key]; !ok {
		h.contradictLocked("%s was deleted and had not been there", key)
	}
	delete(h.present, key)
}

func (h *history) keyLocked(obj any) string {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		h.contradictLocked("an object without a key: %v", err)
	}
	return key
}

// putLocked stores an object. Versions must rise, also from an object to its successor of the same
// name.
func (h *history) putLocked(key string, obj any) {
	if h.present == nil {
		h.present = map[string]runtime.Object{}
	}
	if old, ok := h.present[key]; ok && version(old) > version(obj.(runtime.Object)) {
		h.contradictLocked("%s went back from version %d to %d", key, version(old), version(obj.(runtime.Object)))
	}
	h.present[key] = obj.(runtime.Object)
}

func version(obj runtime.Object) (v uint64) {
	accessor, err := meta.Accessor(obj)
	if err == nil {
		_, err = fmt.Sscan(accessor.GetResourceVersion(), &v)
	}
	if err != nil {
		return 0
	}
	return v
}

func (h *history) contradictLocked(format string, args ...any) {
	if h.contradiction == nil {
		h.contradiction = fmt.Errorf(format, args...)
	}
}

// objects returns the objects that exist by the history.
func (h *history) objects() ([]runtime.Object, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.contradiction != nil {
		return nil, h.contradiction
	}
	all := make([]runtime.Object, 0, len(h.present))
	for _, obj := range h.present {
		all = append(all, obj)
	}
	return all, nil
}

func (h *history) counts() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("%d additions, %d updates, %d deletions (%d found out later)", h.added, h.updated, h.deleted, h.finds)
}
