package informer

import (
	"fmt"
	"maps"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// story makes notifications of one object out of versions: "+1" an addition of version 1, "2" an update to it, "=" a
// resync, "-" a deletion.
func story(key string, steps ...string) []notification[*thing] {
	var out []notification[*thing]
	var state *thing
	for _, s := range steps {
		n := notification[*thing]{key: key, old: state}
		switch s {
		case "-":
			n.kind, n.obj = EventDelete, state
			state = nil
		case "=":
			n.kind, n.obj, n.sync = EventUpdate, state, true
		default:
			n.kind = EventUpdate
			if s[0] == '+' {
				n.kind, s = EventAdd, s[1:]
			}
			state = &thing{name: key, version: s}
			n.obj = state
		}
		out = append(out, n)
	}
	return out
}

func tell(n notification[*thing]) string {
	version := func(t *thing) string {
		if t == nil {
			return "nothing"
		}
		return t.version
	}
	return fmt.Sprintf("%v %s %s->%s", n.kind, n.key, version(n.old), version(n.obj))
}

func TestCompactKeepsTheEffect(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []string // what happened before, and was told
		steps []string
		want  []string
	}{
		{"updates", []string{"+1"}, []string{"2", "3", "4"}, []string{"update a 1->4"}},
		{"an addition and updates", nil, []string{"+1", "2"}, []string{"add a nothing->2"}},
		{"it came and went", nil, []string{"+1", "2", "-"}, nil},
		{"it came, went and came", nil, []string{"+1", "-", "+2"}, []string{"add a nothing->2"}},
		{"it went", []string{"+1"}, []string{"2", "-"}, []string{"delete a 1->2"}},
		{"it was replaced", []string{"+1"}, []string{"2", "-", "+3", "4"}, []string{"update a 1->4"}},
		{"it was replaced and went", []string{"+1"}, []string{"-", "+2", "-"}, []string{"delete a 1->2"}},
		{"resyncs", []string{"+1"}, []string{"=", "="}, []string{"update a 1->1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := story("a", append(c.known, c.steps...)...)
			var got []string
			for _, n := range compact([][]notification[*thing]{all[len(c.known):]}) {
				got = append(got, tell(n))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestCompactTellsTheEndOfWhatWasTold: an object goes, another of its name comes and goes, while the handler is stuck. A
// handler that keeps something by UID must hear of the first one's end; of the second one it was never told.
func TestCompactTellsTheEndOfWhatWasTold(t *testing.T) {
	object := func(uid, version string) *api.PartialObjectMetadata {
		return &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: "a", UID: uid, ResourceVersion: version}}
	}
	told, changed := object("first", "1"), object("first", "2")
	successor := object("second", "4")
	type n = notification[*api.PartialObjectMetadata]
	deletion := func(old, obj *api.PartialObjectMetadata) n {
		return n{kind: EventDelete, key: "a", old: old, obj: obj}
	}
	update := n{kind: EventUpdate, key: "a", old: told, obj: changed}
	creation := n{kind: EventAdd, key: "a", obj: successor}

	for name, events := range map[string][]n{
		"seen":        {update, deletion(changed, object("first", "3")), creation, deletion(successor, object("second", "5"))},
		"after a gap": {update, {kind: EventUpdate, key: "a", old: changed, obj: successor}, deletion(successor, object("second", "5"))},
	} {
		got := compact([][]n{events})
		require.Len(t, got, 1, name)
		assert.Equal(t, EventDelete, got[0].kind, name)
		assert.Same(t, told, got[0].obj, name)
		assert.True(t, got[0].finalStateUnknown, name)

		pipe := newCoalescingPipe[*api.PartialObjectMetadata]()
		pipe.add(events)
		var one n
		require.True(t, pipe.next(&one), name)
		assert.Same(t, told, one.obj, name)
		assert.True(t, one.finalStateUnknown, name)
	}
	same := compact([][]n{{update, deletion(changed, object("first", "3"))}})
	assert.Equal(t, "3", same[0].obj.ResourceVersion, "its own final state is known")
	assert.False(t, same[0].finalStateUnknown)
}

func TestCompactTellsResyncsFromChanges(t *testing.T) {
	resyncs := compact([][]notification[*thing]{story("a", "+1", "=", "=")[1:]})
	assert.True(t, resyncs[0].sync)
	change := compact([][]notification[*thing]{story("a", "+1", "=", "2", "=")[1:]})
	assert.False(t, change[0].sync)
}

func TestCompactKeepsTheMarkBehindTheInitialList(t *testing.T) {
	a, b := story("a", "+1", "2"), story("b", "+1")
	a[0].initial = true
	got := compact([][]notification[*thing]{{a[0], {kind: eventSynced}, a[1]}, b})
	require.Len(t, got, 3)
	assert.Equal(t, "add a nothing->2", tell(got[0]))
	assert.True(t, got[0].initial)
	assert.Equal(t, eventSynced, got[1].kind)
	assert.Equal(t, "add b nothing->1", tell(got[2]))
}

// TestCompactLeadsToTheSameState: whatever is merged, a handler ends where it would have ended, and each event
// begins where the handler is.
func TestCompactLeadsToTheSameState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world, told := map[string]*thing{}, map[string]*thing{}
		var waiting []notification[*thing]
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			switch what := rapid.SampledFrom([]string{"set", "set", "delete", "compact", "tell"}).Draw(t, "what"); what {
			case "set":
				n := notification[*thing]{kind: EventUpdate, key: key, old: world[key], obj: &thing{name: key, version: strconv.Itoa(i)}}
				if n.old == nil {
					n.kind = EventAdd
				}
				world[key] = n.obj
				waiting = append(waiting, n)
			case "delete":
				if old := world[key]; old != nil {
					delete(world, key)
					waiting = append(waiting, notification[*thing]{kind: EventDelete, key: key, old: old, obj: old})
				}
			case "compact":
				waiting = compact([][]notification[*thing]{waiting})
				keys := map[string]bool{}
				for _, n := range waiting {
					require.False(t, keys[n.key], "one event for an object")
					keys[n.key] = true
				}
			case "tell":
				tellAll(t, told, waiting)
				waiting = nil
			}
		}
		tellAll(t, told, compact([][]notification[*thing]{waiting}))
		require.True(t, maps.Equal(world, told))
	})
}

func tellAll(t *rapid.T, told map[string]*thing, events []notification[*thing]) {
	for _, n := range events {
		require.Same(t, told[n.key], n.old, tell(n))
		require.Equal(t, n.kind == EventAdd, n.old == nil, tell(n))
		if n.kind == EventDelete {
			delete(told, n.key)
		} else {
			told[n.key] = n.obj
		}
	}
}

// TestPipeCompactsWhatWaits: the handler is stuck while two objects change a million times between them.
func TestPipeCompactsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBatchPipe[*thing](100)
		release := make(chan struct{})
		var told []string
		var running = make(chan struct{})
		go func() {
			defer close(running)
			p.run(func(n *notification[*thing]) {
				<-release
				told = append(told, tell(*n))
			})
		}()
		merged := 0
		state := map[string]*thing{}
		change := func(key string, version int) {
			n := notification[*thing]{kind: EventUpdate, key: key, old: state[key], obj: &thing{version: strconv.Itoa(version)}}
			if n.old == nil {
				n.kind = EventAdd
			}
			state[key] = n.obj
			merged += p.add([]notification[*thing]{n}).merged
		}
		change("first", 0)
		synctest.Wait()
		const changes = 10_000
		for i := range changes {
			change("a", i)
			change("b", i)
			assert.LessOrEqual(t, p.events, 101)
		}
		assert.Greater(t, merged, 2*changes-200)
		close(release)
		p.finish()
		<-running
		assert.Equal(t, "add first nothing->0", told[0])
		assert.Contains(t, told[len(told)-1], fmt.Sprintf("->%d", changes-1))
		assert.Len(t, told, 1+2*changes-merged)
	})
}
