package fast_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/indexer/indexertest"
)

// TestAgainstTextbook performs the same operations on the store and the textbook form and compares
// all reads after each one. Few names and values make objects collide, move and vanish. Iterations
// in progress must show the content as of their start.
func TestAgainstTextbook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		t.Repeat(map[string]func(*rapid.T){
			"add":           m.add,
			"delete":        m.delete,
			"replace":       m.replace,
			"addIndexers":   m.addIndexers,
			"beginReading":  m.beginReading,
			"finishReading": m.finishReading,
			"":              m.check,
		})
		for len(m.readings) > 0 {
			m.finish(t, 0)
		}
	})
}

// machine is the pair of stores under test.
type machine struct {
	real      *fast.Indexer[*indexertest.Object]
	reference *indexer.Store[*indexertest.Object]
	version   int
	readings  []*reading
}

// reading is an iteration in progress.
type reading struct {
	next func() (string, *indexertest.Object, bool)
	stop func()
	got  []string
	want []string
}

func newMachine() *machine {
	config := indexer.Config[*indexertest.Object]{
		KeyFunc:  indexertest.KeyFunc,
		Indexers: indexer.Indexers[*indexertest.Object]{"node": byNodeUnlessBad},
	}
	return &machine{real: fast.New(config), reference: indexer.New(config)}
}

// byNodeUnlessBad fails for one node and panics for another.
func byNodeUnlessBad(o *indexertest.Object) ([]string, error) {
	switch o.Node {
	case "bad":
		return nil, fmt.Errorf("bad node")
	case "worse":
		panic("worse node")
	}
	return indexertest.ByNode(o)
}

var (
	drawName   = rapid.Map(rapid.IntRange(0, 400), func(i int) string { return fmt.Sprintf("o%d", i) })
	drawNode   = rapid.SampledFrom([]string{"", "n1", "n1", "n2", "n3", "bad", "worse"})
	drawLabels = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4)
)

func (m *machine) object(t *rapid.T) *indexertest.Object {
	m.version++
	return &indexertest.Object{
		Namespace: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "namespace"),
		Name:      drawName.Draw(t, "name"),
		Node:      drawNode.Draw(t, "node"),
		Labels:    drawLabels.Draw(t, "labels"),
		Version:   fmt.Sprint(m.version),
	}
}

// sameErrors compares the guarantees: the number of errors and, unless some were dropped, the
// failed indexes and objects.
func sameErrors(t *rapid.T, real, reference error) {
	if describeError(real) != describeError(reference) {
		t.Fatalf("error %v, reference %v", real, reference)
	}
}

func describeError(err error) string {
	switch err := err.(type) {
	case nil:
		return "none"
	case *indexer.IndexErrors:
		if err.Total > 10 {
			return fmt.Sprint(err.Total)
		}
		failed := map[string]int{}
		for _, e := range err.First {
			failed[e.Index+"/"+e.Key]++
		}
		return fmt.Sprint(err.Total, failed)
	case *indexer.IndexError:
		return err.Index + "/" + err.Key
	}
	return fmt.Sprintf("%T", err)
}

func (m *machine) add(t *rapid.T) {
	// Several at a time, so that lists grow beyond one chunk.
	for range rapid.IntRange(1, 30).Draw(t, "count") {
		o := m.object(t)
		if rapid.Bool().Draw(t, "key is known") {
			m.put(t, o)
			continue
		}
		sameErrors(t, m.real.Add(o), m.reference.Add(o))
	}
}

func (m *machine) put(t *rapid.T, o *indexertest.Object) {
	old, existed, err := m.real.Put(o.Key(), o)
	wantOld, wantExisted, wantErr := m.reference.Put(o.Key(), o)
	sameErrors(t, err, wantErr)
	if old != wantOld || existed != wantExisted {
		t.Fatalf("put %v: was %v, %t; reference %v, %t", o, old, existed, wantOld, wantExisted)
	}
}

func (m *machine) delete(t *rapid.T) {
	for range rapid.IntRange(1, 20).Draw(t, "count") {
		o := m.object(t)
		if rapid.Bool().Draw(t, "by key") {
			m.real.DeleteKey(o.Key())
			m.reference.DeleteKey(o.Key())
			continue
		}
		sameErrors(t, m.real.Delete(o), m.reference.Delete(o))
	}
}

func (m *machine) replace(t *rapid.T) {
	items := []*indexertest.Object{}
	for range rapid.SampledFrom([]int{0, 3, 300}).Draw(t, "count") {
		items = append(items, m.object(t))
	}
	version := fmt.Sprint(m.version)
	real, reference := m.real.Replace(items, version), m.reference.Replace(items, version)
	if (real != nil) != (reference != nil) && !repeats(items) {
		t.Fatalf("error %v, reference %v", real, reference)
	}
}

// repeats reports whether keys repeat: then the reference, which indexes only the last one, may
// have fewer errors.
func repeats(items []*indexertest.Object) bool {
	seen := map[string]bool{}
	for _, o := range items {
		if seen[o.Key()] {
			return true
		}
		seen[o.Key()] = true
	}
	return false
}

func (m *machine) addIndexers(t *rapid.T) {
	added := indexer.Indexers[*indexertest.Object]{}
	if rapid.Bool().Draw(t, "label") {
		added["label"] = indexertest.ByLabel
	}
	if rapid.Bool().Draw(t, "namespace") {
		added["namespace"] = indexertest.ByNamespace
	}
	if rapid.Bool().Draw(t, "another") {
		added["another"] = byNodeUnlessBad
	}
	sameErrors(t, m.real.AddIndexers(added), m.reference.AddIndexers(added))
}

// beginReading starts an iteration and takes its first step.
func (m *machine) beginReading(t *rapid.T) {
	r := &reading{want: texts(m.reference.List())}
	r.next, r.stop = iter.Pull2(m.real.All())
	r.step()
	m.readings = append(m.readings, r)
}

func (r *reading) step() bool {
	key, o, ok := r.next()
	if ok {
		r.got = append(r.got, key+" "+o.String())
	}
	return ok
}

func (m *machine) finishReading(t *rapid.T) {
	if len(m.readings) == 0 {
		t.Skip("no iteration is in progress")
	}
	m.finish(t, rapid.IntRange(0, len(m.readings)-1).Draw(t, "which"))
}

func (m *machine) finish(t *rapid.T, i int) {
	r := m.readings[i]
	m.readings = slices.Delete(m.readings, i, i+1)
	for r.step() {
	}
	r.stop()
	slices.Sort(r.got)
	if !slices.Equal(r.got, r.want) {
		t.Fatalf("an iteration shows %v, began with %v", r.got, r.want)
	}
}

// texts describes objects with their keys, as reading does.
func texts(objects []*indexertest.Object) []string {
	all := []string{}
	for _, o := range objects {
		all = append(all, o.Key()+" "+o.String())
	}
	slices.Sort(all)
	return all
}

// check compares all reads.
func (m *machine) check(t *rapid.T) {
	if err := m.real.Check(); err != nil {
		t.Fatalf("invariants: %v", err)
	}
	real, reference := describe(m.real), describe(m.reference)
	if real != reference {
		t.Fatalf("the store is\n%s\nthe reference is\n%s", real, reference)
	}
	if got, want := fmt.Sprint(m.real.Snapshot()), fmt.Sprint(m.reference.Snapshot()); got != want {
		t.Fatalf("the snapshot is\n%s\nthe reference's is\n%s", got, want)
	}
}

// describe returns the content of a store as text.
func describe(x indexertest.Indexer) string {
	var b strings.Builder
	fmt.Fprintln(&b, x.Len(), texts(x.List()), slices.Sorted(slices.Values(x.ListKeys())))
	names := []string{}
	for name := range x.GetIndexers() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range slices.Sorted(slices.Values(x.ListIndexFuncValues(name))) {
			objects, err := x.ByIndex(name, value)
			keys, keysErr := x.IndexKeys(name, value)
			fmt.Fprintln(&b, name, value, texts(objects), err, keys, keysErr)
		}
		related, err := x.Index(name, &indexertest.Object{Name: "asks", Node: "n1", Labels: []string{"a", "b"}})
		fmt.Fprintln(&b, name, texts(related), err)
	}
	for _, key := range x.ListKeys() {
		if o, exists := x.GetByKey(key); !exists || o.Key() != key {
			fmt.Fprintln(&b, "missing", key)
		}
	}
	return b.String()
}
