package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// journal is the history of the server: every write, in the order of versions.
type journal struct {
	mu       sync.Mutex // guards all of it
	objects  map[string]*life
	finals   []finalization
	writes   int
	versions map[uint64]string // version -> UID of the written object
}

// life is the life of an object.
type life struct {
	prefix     string
	key        store.Key
	born, died uint64 // versions; died is 0 while the object lives
}

// finalization is the moment when a namespace lost the controller's finalizer.
type finalization struct {
	namespace string
	uid       string
	version   uint64
}

func newJournal() *journal {
	return &journal{objects: map[string]*life{}, versions: map[uint64]string{}}
}

// committed records a write. It is a hook of the store.
func (j *journal) committed(prefix string, e store.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writes++
	o := e.Object
	j.versions[e.Version()] = o.UID
	one := j.objects[o.UID]
	if one == nil {
		one = &life{prefix: prefix, key: o.Key}
		j.objects[o.UID] = one
	}
	// Hooks of two writes may come in either order.
	switch {
	case e.Type == api.WatchAdded:
		one.born = e.Version()
	case e.Type == api.WatchDeleted:
		one.died = e.Version()
	}
	if strings.HasSuffix(prefix, "/namespaces") && e.Previous != nil && holdsToken(e.Previous) &&
		(e.Type == api.WatchDeleted || !holdsToken(o)) {
		j.finals = append(j.finals, finalization{o.Key.Name, o.UID, e.Version()})
	}
}

func holdsToken(namespace *store.Object) bool {
	return slices.Contains(namespace.Decode().NestedStringSlice("spec", "finalizers"), api.FinalizerKubernetes)
}

// wrote reports whether the server ever gave this version to the object with this UID.
func (j *journal) wrote(uid string, version uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.versions[version] == uid
}

// early returns the namespaces that lost the controller's finalizer while they had content. All
// writes are ordered, and nothing can be created in a namespace that is being deleted, so this is
// exact even afterwards.
func (j *journal) early() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var wrong []string
	for _, f := range j.finals {
		for uid, one := range j.objects {
			if one.key.Namespace != f.namespace || one.born > f.version || one.died != 0 && one.died < f.version {
				continue
			}
			wrong = append(wrong,
				fmt.Sprintf("namespace %s (%s) was finalized at version %d, when it still held %s%s (%s), created "+
					"at %d, gone at %d",
					f.namespace, f.uid, f.version, one.prefix, "/"+one.key.String(), uid, one.born, one.died))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// created returns the number of objects of a resource that ever existed.
func (j *journal) created(resource string) (count int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.objects {
		if strings.HasSuffix(one.prefix, "/"+resource) {
			count++
		}
	}
	return count
}

// counts returns the number of writes and of finalized namespaces.
func (j *journal) counts() (writes, finalized int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.writes, len(j.finals)
}
