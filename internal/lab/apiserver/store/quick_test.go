package store

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// model is a store that keeps everything: the state of each collection after each version, and all
// events.
type model struct {
	version uint64
	window  int
	states  map[string]map[uint64]map[Key]string // prefix, version, key: value and version
	events  map[string][]modelEvent
	oldest  map[string]uint64
}

type modelEvent struct {
	version       uint64
	kind          api.WatchEventType
	key           Key
	value, before string
}

func (e modelEvent) String() string {
	return fmt.Sprintf("%d %s %s %s <- %s", e.version, e.kind, e.key, e.value, e.before)
}

var prefixes = []string{"/registry/configmaps", "/registry/secrets"}

func newModel(window int) *model {
	m := &model{version: 1, window: window, states: map[string]map[uint64]map[Key]string{},
		events: map[string][]modelEvent{}, oldest: map[string]uint64{}}
	for _, p := range prefixes {
		m.states[p] = map[uint64]map[Key]string{1: {}}
	}
	return m
}

// step copies the state of all collections to the next version.
func (m *model) step() {
	m.version++
	for _, p := range prefixes {
		m.states[p][m.version] = m.states[p][m.version-1]
	}
}

func (m *model) write(prefix string, e modelEvent) {
	m.step()
	e.version = m.version
	state := maps.Clone(m.states[prefix][m.version-1])
	if e.kind == api.WatchDeleted {
		delete(state, e.key)
	} else {
		state[e.key] = e.value
	}
	m.states[prefix][m.version] = state
	m.events[prefix] = append(m.events[prefix], e)
	if n := len(m.events[prefix]); n > m.window {
		m.oldest[prefix] = max(m.oldest[prefix], m.events[prefix][n-m.window-1].version)
	}
}

func (m *model) compact() {
	for _, p := range prefixes {
		m.oldest[p] = m.version
	}
}

// modelWatch is a cursor with the position in the model's events that it must continue from.
type modelWatch struct {
	prefix string
	cursor *Cursor
	next   int
}

// world is a store and its model.
type world struct {
	store   *Store
	model   *model
	watches []*modelWatch
	views   []*View
	viewOf  []string
	retired []*Object // replaced or deleted objects
	writes  int
}

func (w *world) oldest(prefix string) uint64 { return w.store.Collection(prefix).window.oldest }

var drawPrefix = rapid.SampledFrom(prefixes)

var drawKey = rapid.Custom(func(t *rapid.T) Key {
	return Key{
		Namespace: rapid.SampledFrom([]string{"a", "a-b", "ab", "b"}).Draw(t, "namespace"),
		Name:      rapid.SampledFrom([]string{"x", "x-1", "y", "z"}).Draw(t, "name"),
	}
})

func (w *world) create(t *rapid.T) {
	prefix, key := drawPrefix.Draw(t, "prefix"), drawKey.Draw(t, "key")
	w.writes++
	value := fmt.Sprint("v", w.writes)
	o, err := w.store.Collection(prefix).Create(draft(key, value), nil)
	if before, taken := w.model.states[prefix][w.model.version][key]; taken {
		var exists *ExistsError
		require.ErrorAs(t, err, &exists)
		require.Equal(t, before, valueOf(exists.Current))
		return
	}
	require.NoError(t, err)
	w.model.write(prefix, modelEvent{kind: api.WatchAdded, key: key, value: value})
	require.Equal(t, w.model.version, o.Version)
}

func (w *world) replace(t *rapid.T) {
	prefix, key := drawPrefix.Draw(t, "prefix"), drawKey.Draw(t, "key")
	c := w.store.Collection(prefix)
	old, ok := c.Get(key)
	before, known := w.model.states[prefix][w.model.version][key]
	require.Equal(t, known, ok)
	if !ok {
		return
	}
	w.writes++
	value := fmt.Sprint("v", w.writes)
	if rapid.IntRange(0, 4).Draw(t, "unchanged") == 0 {
		value = before
	}
	o, swapped, err := c.Replace(old, draft(key, value))
	require.NoError(t, err)
	require.True(t, swapped)
	if value == before {
		require.Same(t, old, o)
		return
	}
	w.model.write(prefix, modelEvent{kind: api.WatchModified, key: key, value: value, before: before})
	require.Equal(t, w.model.version, o.Version)
	w.retired = append(w.retired, old)
}

func (w *world) delete(t *rapid.T) {
	prefix, key := drawPrefix.Draw(t, "prefix"), drawKey.Draw(t, "key")
	c := w.store.Collection(prefix)
	old, ok := c.Get(key)
	if !ok {
		return
	}
	before := w.model.states[prefix][w.model.version][key]
	last, swapped := c.Delete(old)
	require.True(t, swapped)
	w.model.write(prefix, modelEvent{kind: api.WatchDeleted, key: key, value: before, before: before})
	require.Equal(t, w.model.version, last.Version)
	w.retired = append(w.retired, old)
}

// outdated writes with an object that is not current.
func (w *world) outdated(t *rapid.T) {
	if len(w.retired) == 0 {
		return
	}
	old, c := rapid.SampledFrom(w.retired).Draw(t, "old"), w.store.Collection(drawPrefix.Draw(t, "prefix"))
	_, swapped, err := c.Replace(old, draft(old.Key, "outdated"))
	require.NoError(t, err)
	require.False(t, swapped)
	_, swapped = c.Delete(old)
	require.False(t, swapped)
}

func (w *world) compact(*rapid.T) {
	w.store.Compact()
	w.model.compact()
}

// drawVersion draws a version, sometimes a future one.
func (w *world) drawVersion(t *rapid.T) uint64 {
	return rapid.Uint64Range(1, w.model.version+2).Draw(t, "version")
}

// expect checks the error for a version and reports whether there must be none.
func (w *world) expect(t *rapid.T, prefix string, version uint64, err error) bool {
	switch {
	case version > w.model.version:
		var future *FutureError
		require.ErrorAs(t, err, &future)
		require.Equal(t, w.model.version, future.Current)
		return false
	case version < w.oldest(prefix):
		var expired *ExpiredError
		require.ErrorAs(t, err, &expired)
		require.Equal(t, version, expired.Version)
		return false
	}
	require.NoError(t, err)
	return true
}

func (w *world) view(t *rapid.T) {
	prefix, version := drawPrefix.Draw(t, "prefix"), w.drawVersion(t)
	v, err := w.store.Collection(prefix).View(version)
	if !w.expect(t, prefix, version, err) {
		return
	}
	require.Equal(t, version, v.Version())
	w.views, w.viewOf = append(w.views, v), append(w.viewOf, prefix)
}

// lookAgain reads an older view.
func (w *world) lookAgain(t *rapid.T) {
	if len(w.views) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.views)-1).Draw(t, "view")
	v, state := w.views[i], w.model.states[w.viewOf[i]][w.views[i].Version()]
	namespace := rapid.SampledFrom([]string{"", "a", "a-b", "b", "c"}).Draw(t, "namespace")
	after := Key{}
	if rapid.Bool().Draw(t, "from the middle") {
		after = drawKey.Draw(t, "after")
	}
	want := []string{}
	for key := range state {
		if (namespace == "" || key.Namespace == namespace) && (after == Key{} || key.String() > after.String()) {
			want = append(want, key.String())
		}
	}
	slices.Sort(want)
	require.Equal(t, want, keysOf(v, namespace, after))
	require.Equal(t, len(want), v.LenAfter(namespace, after))
	for key, value := range state {
		o, ok := v.Get(key)
		require.True(t, ok)
		require.Equal(t, value, valueOf(o))
	}
	require.Equal(t, len(state), v.Len(""))
}

func (w *world) watch(t *rapid.T) {
	prefix, version := drawPrefix.Draw(t, "prefix"), w.drawVersion(t)
	cursor, err := w.store.Collection(prefix).Watch(version)
	if !w.expect(t, prefix, version, err) {
		return
	}
	next := slices.IndexFunc(w.model.events[prefix], func(e modelEvent) bool { return e.version > version })
	if next < 0 {
		next = len(w.model.events[prefix])
	}
	w.watches = append(w.watches, &modelWatch{prefix, cursor, next})
}

func (w *world) read(t *rapid.T) {
	if len(w.watches) == 0 {
		return
	}
	w.readOne(t, rapid.IntRange(0, len(w.watches)-1).Draw(t, "watch"))
}

// readOne reads one cursor once, and drops it if it has expired.
func (w *world) readOne(t *rapid.T, i int) {
	watch := w.watches[i]
	all := w.model.events[watch.prefix]
	if watch.next == len(all) {
		version, upToDate := watch.cursor.Progress()
		require.True(t, upToDate)
		require.Equal(t, w.model.version, version)
		events, _, err := watch.cursor.Poll()
		require.NoError(t, err)
		require.Empty(t, events)
		return
	}
	_, upToDate := watch.cursor.Progress()
	require.False(t, upToDate)
	events, _, err := watch.cursor.Poll()
	if all[watch.next].version <= w.oldest(watch.prefix) {
		var expired *ExpiredError
		require.ErrorAs(t, err, &expired)
		w.watches = slices.Delete(w.watches, i, i+1)
		return
	}
	require.NoError(t, err)
	require.NotEmpty(t, events)
	for _, e := range events {
		got := modelEvent{version: e.Version(), kind: e.Type, key: e.Object.Key, value: valueOf(e.Object)}
		if e.Previous != nil {
			got.before = valueOf(e.Previous)
		}
		require.Equal(t, all[watch.next].String(), got.String())
		watch.next++
	}
}

func (w *world) check(t *rapid.T) {
	require.Equal(t, w.model.version, w.store.Version())
	for _, prefix := range prefixes {
		require.Equal(t, w.model.oldest[prefix], w.oldest(prefix))
	}
}

// Every view shows the model's state at its version, every cursor yields the events after its
// version without a gap, and only what has left the window is refused.
func TestStoreIsLikeItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := Config{Window: rapid.SampledFrom([]int{1, 2, 5, 200, 1000}).Draw(t, "window")}
		w := &world{store: New(config), model: newModel(config.Window)}
		for _, prefix := range prefixes {
			w.store.Collection(prefix)
		}
		actions := map[string]func(*rapid.T){
			"create": w.create, "replace": w.replace, "delete": w.delete, "outdated": w.outdated, "view": w.view,
			"look again": w.lookAgain, "watch": w.watch, "read": w.read, "": w.check,
		}
		if rapid.Bool().Draw(t, "compactions") {
			actions["compact"] = w.compact
		}
		t.Repeat(actions)
	})
}

// Keys are ordered like their paths in etcd.
func TestKeysAreOrderedAsText(t *testing.T) {
	part := rapid.StringMatching(`[a-z0-9.-]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		a := Key{part.Draw(t, "namespace"), part.Draw(t, "name")}
		b := Key{part.Draw(t, "namespace"), part.Draw(t, "name")}
		want := 0
		switch x, y := a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name; {
		case x < y:
			want = -1
		case x > y:
			want = 1
		}
		got := a.compare(b)
		require.Equal(t, want, max(-1, min(1, got)))
	})
}
