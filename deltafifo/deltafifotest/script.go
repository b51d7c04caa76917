package deltafifotest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// Consumer is the store behind a queue, with a handler that keeps a journal. Its zero value is
// ready to use. Like an informer, it lets the store, not the delta's type, decide whether a change
// is an addition or an update. Its methods are safe for concurrent use.
type Consumer struct {
	mu      sync.Mutex
	objects map[string]*Object
	journal []string
}

// NewConsumer returns a new Consumer that holds these objects and has an empty journal.
func NewConsumer(objects ...*Object) *Consumer {
	c := &Consumer{objects: make(map[string]*Object)}
	for _, o := range objects {
		c.objects[o.Name] = o
	}
	return c
}

// Process applies the deltas to the store; pass it to Pop.
func (c *Consumer) Process(key string, deltas deltafifo.Deltas[*Object], _ bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects == nil {
		c.objects = make(map[string]*Object)
	}
	for _, d := range deltas {
		old, known := c.objects[key]
		switch {
		case d.Type == deltafifo.Deleted:
			delete(c.objects, key)
			c.journal = append(c.journal, fmt.Sprintf("delete %s", d.Object))
		case known:
			c.objects[key] = d.Object
			c.journal = append(c.journal, fmt.Sprintf("update %s %s", old, d.Object))
		default:
			c.objects[key] = d.Object
			c.journal = append(c.journal, fmt.Sprintf("add %s", d.Object))
		}
	}
	return nil
}

// ListKeys returns the keys of the store, sorted.
func (c *Consumer) ListKeys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := make([]string, 0, len(c.objects))
	for key := range c.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// GetByKey returns the object with this key, and whether there is one.
func (c *Consumer) GetByKey(key string) (*Object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.objects[key]
	return o, ok
}

// Objects returns the content of the store as text, sorted by key: "a@1".
func (c *Consumer) Objects() []string {
	texts := []string{}
	for _, key := range c.ListKeys() {
		if o, ok := c.GetByKey(key); ok {
			texts = append(texts, o.String())
		}
	}
	return texts
}

// Journal returns the handler's events so far: "add a@1", "update a@1 a@2", "delete a@2".
func (c *Consumer) Journal() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.journal)
}

// Object is an object of the tests: a name and a version of its state.
type Object struct {
	Name    string
	Version int
}

// String returns name@version, and "nothing" for a nil object.
func (o *Object) String() string {
	if o == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s@%d", o.Name, o.Version)
}

// Obj returns the object with this name and version.
func Obj(name string, version int) *Object { return &Object{Name: name, Version: version} }

// ErrNameless is the error of KeyFunc for an Object without a name.
var ErrNameless = errors.New("the object has no name")

// KeyFunc is the key function for Objects: the name, or ErrNameless.
func KeyFunc(o *Object) (string, error) {
	if o.Name == "" {
		return "", ErrNameless
	}
	return o.Name, nil
}

// Describe returns one delta as text: "Added a@1", or "Deleted a@1 (inferred)" for a tombstone.
func Describe(d deltafifo.Delta[*Object]) string {
	text := fmt.Sprintf("%s %s", d.Type, d.Object)
	if d.Tombstone != nil {
		text += " (inferred)"
	}
	return text
}

// DescribeAll returns deltas as text, oldest first: "Added a@1, Updated a@2".
func DescribeAll(deltas deltafifo.Deltas[*Object]) string {
	texts := make([]string, len(deltas))
	for i, d := range deltas {
		texts[i] = Describe(d)
	}
	return strings.Join(texts, ", ")
}
