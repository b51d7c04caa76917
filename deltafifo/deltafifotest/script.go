package deltafifotest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

// script is a behaviour as data: calls of the queue, and what it hands out after them.
type script struct {
	name   string
	known  string // the objects of the store: "a@1 b@2"
	config change // may be nil
	needs  Capability

	calls  string // see rig.play
	during string // calls while the next key is being processed
	ends   error  // how that process function ends, if not with success

	want     string // what the queue hands out at the end: "a: Added a@1; b: Added b@1", or "nothing"
	without  Capability
	instead  string // want, if the implementation lacks that capability
	arrival  bool   // without Accumulation, the deltas of all keys are in order
	anyOrder bool   // the keys have the order of the store, which is undefined

	then    string // calls after the queue is empty
	holds   string // the final content of the store, if set: "a@1 b@2", or "nothing"
	journal string // all events of the handler, if set, unless it lacks that capability
	seen    string // what the hooks of config have recorded, if set, unless it lacks that capability
}

// behaviours makes a behaviour of each script.
func behaviours(scripts []script) (all []behaviour) {
	for _, s := range scripts {
		all = append(all, behaviour{s.name, s.run})
	}
	return all
}

func (s script) run(t *testing.T, impl Implementation) {
	if s.needs != "" && !impl.has(s.needs) {
		return
	}
	r := newRig(t, impl, s.known, s.config)
	t.Logf("the store has %s; calls: %s", cmp.Or(s.known, "nothing"), s.calls)
	if s.during != "" {
		t.Logf("calls while the process function of the next Pop runs: %s", s.during)
	}
	r.play(s.calls)
	switch {
	case s.ends != nil:
		r.failWhile(s.ends, func() { r.play(s.during) })
	case s.during != "":
		r.popWhile(func() { r.play(s.during) })
	}
	want, lacks := s.want, s.without != "" && !impl.has(s.without)
	if lacks {
		want = s.instead
	}
	switch {
	case s.anyOrder:
		r.expectAnyOrder(list(want, "; ")...)
	case s.arrival:
		assertHandedOut(t, list(want, "; "), r.drain())
	default:
		r.expect(list(want, "; ")...)
	}
	if s.holds != "" {
		assert.Equal(t, list(s.holds, " "), r.consumer.Objects(), "what the consumer holds in the end")
	}
	if lacks {
		return
	}
	r.play(s.then)
	if s.journal != "" {
		assert.Equal(t, list(s.journal, "; "), r.consumer.Journal(), "the events of the handler")
	}
	if s.seen != "" {
		assert.Equal(t, list(s.seen, "; "), r.seen, "the calls of Transform, Config.Refused and Replaced")
	}
}

// list splits text; "nothing" and "" are the empty list.
func list(text, separator string) []string {
	if text == "" || text == "nothing" {
		return []string{}
	}
	return strings.Split(text, separator)
}

// objects reads "a@1 b@2".
func objects(t testing.TB, text string) (all []*Object) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		name, version, _ := strings.Cut(word, "@")
		n, err := strconv.Atoi(version)
		require.NoError(t, err, word)
		all = append(all, Obj(name, n))
	}
	return all
}

// play makes calls, separated by semicolons: "add a@1", "update a@2", "delete a@3", "resync",
// "close", and "list a@1 b@1" for Replace. Without SkipsRefused, a deletion or list with version
// 666 or without a name is an error. "pop" hands one key to the consumer, and "pop initial" and
// "pop later" assert its mark; "fail", "panic" and "requeue" are Pops whose process function ends
// so. "synced" and "unsynced" assert what HasSynced and Synced say, and "closed" what Pop does.
func (r *rig) play(calls string) {
	r.Helper()
	for _, call := range list(calls, "; ") {
		verb, rest, _ := strings.Cut(call, " ")
		var given []*Object
		if verb != "pop" {
			given = objects(r, rest)
		}
		switch verb {
		case "add":
			assert.NoError(r, r.queue.Add(given[0]))
		case "update":
			assert.NoError(r, r.queue.Update(given[0]))
		case "delete":
			r.assertSkips(given, r.queue.Delete(given[0]))
		case "list":
			r.replace(given...)
		case "resync":
			r.resync()
		case "close":
			r.queue.Close()
		case "closed":
			_, err := r.take(r.consumer.Process)
			assert.ErrorIs(r, err, deltafifo.ErrFIFOClosed, "the queue stays closed")
		case "pop":
			_, err := r.take(func(key string, d deltafifo.Deltas[*Object], initial bool) error {
				marked := rest == "initial"
				assert.True(r, rest == "" || initial == marked, "want the mark of %s to be %v", key, marked)
				return r.consumer.Process(key, d, initial)
			})
			require.NoError(r, err)
		case "fail":
			_, err := r.popFailing(errProcess)
			assert.ErrorIs(r, err, errProcess)
		case "panic":
			assert.PanicsWithValue(r, "boom", func() {
				_, _ = r.take(func(string, deltafifo.Deltas[*Object], bool) error { panic("boom") })
			})
		case "requeue":
			_, err := r.popFailing(&deltafifo.ErrRequeue{})
			assert.Equal(r, r.has(Requeue), err == nil)
		case "synced":
			assert.True(r, r.queue.HasSynced(), "want HasSynced true, got false")
			assertClosed(r, r.queue.Synced())
		case "unsynced":
			assert.False(r, r.queue.HasSynced(), "want HasSynced false, got true")
			assertOpen(r, r.queue.Synced())
		default:
			require.Fail(r, fmt.Sprintf("unknown call %q", call))
		}
	}
}

// assertSkips asserts that a deletion or a list has succeeded, or without SkipsRefused failed
// because of a refused object.
func (r *rig) assertSkips(given []*Object, err error) {
	r.Helper()
	refused := slices.ContainsFunc(given, func(o *Object) bool { return o.Name == "" || o.Version == 666 })
	assert.Equal(r, refused && !r.has(SkipsRefused), err != nil, "%v", err)
}
