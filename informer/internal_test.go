package informer

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/restclient/api"
)

// deaf is a handler that ignores everything.
type deaf = ResourceEventHandlerFuncs[*thing]

func TestScheduleAdapts(t *testing.T) {
	now := time.Now()
	s := resyncSchedule{requested: 10 * time.Second}
	s.adapt(30*time.Second, now)
	assert.Equal(t, 30*time.Second, s.period)
	assert.False(t, s.due(now.Add(26*time.Second)), "4 s are missing, more than a tenth of a check period")
	assert.True(t, s.due(now.Add(30*time.Second)))
	assert.False(t, s.due(now.Add(56*time.Second)), "the next one is counted from then")
	assert.True(t, s.due(now.Add(60*time.Second)))

	s.adapt(5*time.Second, now)
	assert.Equal(t, 10*time.Second, s.period)
	s.adapt(0, now)
	assert.False(t, s.due(now.Add(time.Hour)))
}

// TestDueWithTicksThatJitter: the ticks of a real clock come a little early or late. A handler with
// a period of n checks is due at each nth tick, whatever the distance of two ticks.
func TestDueWithTicksThatJitter(t *testing.T) {
	const check = 10 * time.Second
	for _, jitter := range []time.Duration{time.Microsecond, time.Millisecond, 100 * time.Millisecond, check / 20} {
		for _, c := range []struct {
			name  string
			ticks []time.Duration // by how much they come late
		}{
			{"in time", []time.Duration{0}},
			{"early", []time.Duration{-jitter}},
			{"late", []time.Duration{jitter}},
			{"late, then early", []time.Duration{jitter, -jitter}},
			{"early, then late", []time.Duration{-jitter, jitter}},
			{"earlier each time", []time.Duration{jitter, jitter / 2, 0, -jitter / 2, -jitter}},
		} {
			for _, periods := range []int{1, 2, 3, 7} {
				t.Run(fmt.Sprintf("%v %s, every %d", jitter, c.name, periods), func(t *testing.T) {
					start := time.Now()
					s := resyncSchedule{requested: time.Duration(periods) * check}
					s.adapt(check, start)
					var due, want []int
					for tick := 1; tick <= 42; tick++ {
						if s.due(start.Add(time.Duration(tick)*check + c.ticks[tick%len(c.ticks)])) {
							due = append(due, tick)
						}
						if tick%periods == 0 {
							want = append(want, tick)
						}
					}
					assert.Equal(t, want, due, "the ticks that bring a resync")
				})
			}
		}
	}
}

// TestDueAfterALateTick: a tick that comes a tenth of a check period too early does not count, so a
// handler is never resynced much more often than it requested.
func TestDueAfterALateTick(t *testing.T) {
	start := time.Now()
	s := resyncSchedule{requested: 10 * time.Second}
	s.adapt(10*time.Second, start)
	assert.True(t, s.due(start.Add(15*time.Second)), "half a period late")
	assert.False(t, s.due(start.Add(20*time.Second)), "5 s after the last resync")
	assert.False(t, s.due(start.Add(24*time.Second-time.Nanosecond)), "more than a tenth is missing")
	assert.True(t, s.due(start.Add(24*time.Second)), "nine tenths of a period after the last resync")

	s = resyncSchedule{requested: time.Minute}
	s.adapt(10*time.Second, start)
	assert.False(t, s.due(start.Add(58*time.Second)), "the tenth is one of the check period: 1 s")
	assert.True(t, s.due(start.Add(59*time.Second)))
}

// TestWhatWaitsIsReported: the hook hears once of each event that is added, and of each merge.
func TestWhatWaitsIsReported(t *testing.T) {
	var reports []QueuedInfo
	s := NewSharedIndexInformer(nil, Config[*thing]{Trace: &Trace{
		HandlerQueued: func(_ HandlerInfo, q QueuedInfo) { reports = append(reports, q) },
	}})
	h := newRegisteredHandler[*thing](deaf{}, HandlerOptions{}, newRegistration(HandlerInfo{}, s), s.config.Trace)
	h.Adding(1, 7)
	h.Merged(0)
	h.Adding(1, 8)
	h.Merged(1)
	h.Queued(0, 0) // a mark, which is no event
	assert.Equal(t, []QueuedInfo{
		{Number: 7, Count: 1, Pending: 1}, {Number: 8, Count: 1, Pending: 2}, {Merged: 1, Pending: 1},
	}, reports)
}

// TestNothingIsResyncedForNobody: an informer without a handler whose resync is due leaves the
// store alone, and reports nothing.
func TestNothingIsResyncedForNobody(t *testing.T) {
	s := NewSharedIndexInformer(nil, Config[*thing]{Trace: &Trace{ResyncDue: func(_ string, due int) {
		t.Errorf("the hook heard of a resync for %d handlers", due)
	}}})
	assert.False(t, s.shouldResync())
}

func TestDroppedFailuresAreCounted(t *testing.T) {
	f := newFailures()
	for range maxPendingFailures + 10 {
		f.add(&ProcessError{Key: "a"})
	}
	reported := 0
	f.tell = func(*ProcessError) { reported++ }
	over, cancel := context.WithCancel(t.Context())
	cancel()
	f.run(over)
	assert.Equal(t, maxPendingFailures, reported)
	count, last := f.summary()
	assert.EqualValues(t, maxPendingFailures+10, count)
	assert.Equal(t, "a", last.Key)
}

// thing is the smallest Object.
type thing struct {
	namespace, name, version string
	labels                   map[string]string
}

func (t *thing) GetNamespace() string         { return t.namespace }
func (t *thing) GetName() string              { return t.name }
func (t *thing) GetResourceVersion() string   { return t.version }
func (t *thing) GetLabels() map[string]string { return t.labels }

func TestKeysAndTheWayBack(t *testing.T) {
	for _, c := range []struct{ namespace, name, key string }{
		{"", "kube-system", "kube-system"},
		{"kube-system", "dns", "kube-system/dns"},
	} {
		key, err := MetaNamespaceKeyFunc(&thing{namespace: c.namespace, name: c.name})
		require.NoError(t, err)
		assert.Equal(t, c.key, key)
		namespace, name, err := SplitMetaNamespaceKey(key)
		require.NoError(t, err)
		assert.Equal(t, c.namespace, namespace)
		assert.Equal(t, c.name, name)
	}
}

func TestWhatHasNoKey(t *testing.T) {
	_, err := MetaNamespaceKeyFunc(&thing{namespace: "ns"})
	assert.EqualError(t, err, `an object in namespace "ns" has no name, and so no key`)
	_, _, err = SplitMetaNamespaceKey("a/b/c")
	assert.EqualError(t, err, `"a/b/c" is not a key: want name or namespace/name`)
}

func TestNamespaceIndexFunc(t *testing.T) {
	obj := &thing{namespace: "ns", name: "a"}
	values, err := MetaNamespaceIndexFunc(obj)
	require.NoError(t, err)
	assert.Equal(t, []string{"ns"}, values)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = MetaNamespaceIndexFunc(obj) }))
}

// TestNamespacesThatShareAPlace: they replace each other and are never mixed up.
func TestNamespacesThatShareAPlace(t *testing.T) {
	for range 2 {
		for i := range 4 * len(recentNamespaces) {
			name := strconv.Itoa(i)
			assert.Equal(t, []string{name}, namespaceValues(name))
		}
	}
	values := namespaceValues("a")
	assert.Equal(t, []string{"a", "b"}, append(values, "b"))
	assert.Equal(t, []string{"a"}, namespaceValues("a"), "append copies the slice")
}

// TestKeysOfKnownObjectsAreThoseOfTheStore: keys are not built again for each event.
func TestKeysOfKnownObjectsAreThoseOfTheStore(t *testing.T) {
	store := fast.New(indexer.Config[*thing]{KeyFunc: MetaNamespaceKeyFunc[*thing]})
	keyOf := keyFuncOf(Indexer[*thing](store))
	long := &thing{namespace: "ns", name: strings.Repeat("x", 200)}
	root, known := &thing{name: "b"}, &thing{namespace: "ns", name: "a"}
	for _, obj := range []*thing{root, known, long} {
		want, err := MetaNamespaceKeyFunc(obj)
		require.NoError(t, err)
		for range 2 {
			key, err := keyOf(obj)
			require.NoError(t, err)
			assert.Equal(t, want, key)
			require.NoError(t, store.Add(obj))
		}
	}
	for _, obj := range []*thing{root, known} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = keyOf(obj) }), obj.name)
	}
	_, err := keyOf(&thing{namespace: "ns"})
	require.Error(t, err)
}

func TestFuncsMayBeNil(t *testing.T) {
	var none ResourceEventHandlerFuncs[*thing]
	none.OnAdd(&thing{}, true)
	none.OnUpdate(&thing{}, &thing{})
	none.OnDelete(DeletedObject[*thing]{})
}

func TestNamesOfKinds(t *testing.T) {
	assert.Equal(t, []string{"add", "update", "delete", "synced", "unknown"},
		[]string{EventAdd.String(), EventUpdate.String(), EventDelete.String(), EventSynced.String(),
			EventKind(0).String()})
	assert.Equal(t, []string{"new", "running", "stopped"},
		[]string{StateNew.String(), StateRunning.String(), StateStopped.String()})
}

func TestStripManagedFields(t *testing.T) {
	ns := &api.Namespace{}
	ns.Name, ns.ManagedFields = "a", api.NewManagedFields([]byte(`[{"manager":"kubectl"}]`))
	strip := StripManagedFields(func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta })
	got, err := strip(ns)
	require.NoError(t, err)
	assert.Same(t, ns, got)
	assert.Equal(t, api.ObjectMeta{Name: "a"}, got.ObjectMeta)
}
