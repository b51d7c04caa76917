package workloads

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// StoreConfig holds the flags of "lab bench store".
type StoreConfig struct {
	// Objects is the number of objects in the store, in 100 namespaces of equal size.
	Objects int
	// Readers is the number of goroutines that read while one writes.
	Readers int
	// Reader is their kind.
	Reader ReaderKind
	bench.Load
}

// AddTo adds a flag for each field.
func (c *StoreConfig) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Objects, "objects", 100_000, 1, 10_000_000, "how many objects are in the store")
	bench.CountVar(flags, &c.Readers, "readers", 4, 0, 10_000, "goroutines that read in a loop")
	program.WordVar(flags, &c.Reader, "reader", "", "kind of reader", ReaderKinds(), "what they do")
	c.Load.AddTo(flags, "objects")
}

// ReaderKind is what the readers of a run do in a loop.
type ReaderKind string

const (
	// ReadList reads a slice of all objects.
	ReadList ReaderKind = "list"
	// ReadByIndex reads a slice of the objects of each namespace in turn.
	ReadByIndex ReaderKind = "by-index"
	// ReadOne reads one object, chosen like the writer's.
	ReadOne ReaderKind = "get"
)

// ReaderKinds returns all kinds.
func ReaderKinds() []ReaderKind { return []ReaderKind{ReadList, ReadByIndex, ReadOne} }

// StoreGear is a Subject: a store of objects of type T with an index by namespace.
type StoreGear[T any] struct {
	// Subject is the name in reports.
	Subject string
	Objects[T]
	// NewStore returns an empty store with namespace/name keys and an index by namespace.
	NewStore func() Store[T]
}

// Store is the part of a store that the workload uses. An adapter only translates. List and ByIndex
// build what the store returns to its callers, call see with each object unless see is nil, and
// return the number of objects.
type Store[T any] interface {
	// Replace makes objects the whole content.
	Replace(objects []T, resourceVersion string) error
	// Update replaces the object with the same key.
	Update(obj T) error
	// Get returns the object with the given key.
	Get(key string) (obj T, exists bool)
	// List builds a slice of all objects, ByIndex one of the objects of a namespace.
	List(see func(T)) int
	ByIndex(namespace string, see func(T)) (int, error)
}

// Stores returns the stores of this project: the default, and the textbook form.
func Stores() []Subject[StoreConfig] { return []Subject[StoreConfig]{FastStore(), TextbookStore()} }

// FastStore returns package indexer/fast.
func FastStore() StoreGear[object] {
	return ourStore("fast", func() indexer.Interface[object] { return fast.New(keyed) })
}

// TextbookStore returns package indexer: maps under one read-write lock.
func TextbookStore() StoreGear[object] {
	return ourStore("textbook", func() indexer.Interface[object] { return indexer.New(keyed) })
}

func ourStore(name string, newStore func() indexer.Interface[object]) StoreGear[object] {
	newAdapter := func() Store[object] { return store{newStore()} }
	return StoreGear[object]{Subject: name, Objects: ourObjects, NewStore: newAdapter}
}

type store struct{ indexer.Interface[object] }

func (s store) Get(key string) (object, bool) { return s.GetByKey(key) }

func (s store) List(see func(object)) int { return seeAll(s.Interface.List(), see) }

func (s store) ByIndex(namespace string, see func(object)) (int, error) {
	found, err := s.Interface.ByIndex(informer.NamespaceIndex, namespace)
	return seeAll(found, see), err
}

// seeAll calls see with each object, unless it is nil, and returns the number of objects.
func seeAll(objects []object, see func(object)) int {
	if see != nil {
		for _, obj := range objects {
			see(obj)
		}
	}
	return len(objects)
}

// Name returns the name in reports.
func (g StoreGear[T]) Name() string { return g.Subject }

// Run measures writes while others read: one goroutine writes, as an informer's loop does.
func (g StoreGear[T]) Run(ctx context.Context, cfg *StoreConfig, meter *bench.Meter) (*bench.Result, error) {
	c := newContent(g, cfg.Objects)
	keys := bench.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed)
	phase := func(ctx context.Context, p *bench.Phase) error { return c.phase(ctx, p, cfg, keys) }
	result, err := bench.Driver{Load: cfg.Load, Meter: meter, Event: "write", Handled: "writes", Phase: phase}.Run(ctx)
	if err != nil || cfg.Readers == 0 {
		return result, err
	}
	// The readers' cost would be counted.
	cost := func(f bench.Figure) bool { return strings.HasSuffix(f.Name, " per write") }
	result.Figures = slices.DeleteFunc(result.Figures, cost)
	return result, nil
}

// phase writes while readers read, and proves the content afterwards. A latency ends when the write
// is done.
func (c *content[T]) phase(ctx context.Context, p *bench.Phase, cfg *StoreConfig, keys *bench.Keys) error {
	store, err := c.fill()
	if err != nil {
		return err
	}
	readers := startReaders(c.readers(cfg.Readers, cfg.Reader, store, keys))
	p.Begin()
	p.Usage = bench.Measure(func() {
		err = p.Produce(ctx, keys, func(event, key int) error {
			err := store.Update(c.next(key))
			if p.Done++; p.Paced() {
				p.Latency.Record(p.Late(event))
			}
			return err
		})
	})
	reads, readError := readers.end()
	if cfg.Readers > 0 {
		p.Also("reads", reads)
	}
	p.Proof = fmt.Sprintf("%d writes while %d readers read %d times, completely each time; "+
		"afterwards all objects in the state written last, by list, index and key", p.Done, cfg.Readers, reads)
	return cmp.Or(err, readError, c.prove(store))
}

// content is the expected content of a store, and the objects to be written.
type content[T any] struct {
	gear StoreGear[T]
	pods []Pod
	keys []string
	// states are the objects in two states each: the event "object i has changed" brings the
	// other one. The number of a state is the pod's number, plus len(pods) for the second state.
	states  [2][]T
	current []uint8  // the state written last
	names   []string // of the namespaces
}

// newContent makes n objects in 100 namespaces.
func newContent[T any](gear StoreGear[T], n int) *content[T] {
	namespaces := min(n, 100)
	c := &content[T]{gear: gear, pods: MakePods(n, namespaces), current: make([]uint8, n)}
	for i := range namespaces {
		c.names = append(c.names, PodNamespace(i))
	}
	for i, p := range c.pods {
		c.keys = append(c.keys, p.Key())
		for state := range c.states {
			c.states[state] = append(c.states[state], gear.New(p.As(int64(i+state*n))))
		}
	}
	return c
}

// fill returns a store with all objects in their first state.
func (c *content[T]) fill() (Store[T], error) {
	store := c.gear.NewStore()
	clear(c.current)
	return store, store.Replace(c.states[0], "1")
}

// next returns the object of the next event for object i.
func (c *content[T]) next(i int) T {
	c.current[i] = 1 - c.current[i]
	return c.states[c.current[i]][i]
}

// prove checks that every read method shows every object in its current state.
func (c *content[T]) prove(store Store[T]) error {
	all := func(see func(T)) (int, error) { return store.List(see), nil }
	err := c.proveList("List", 0, len(c.pods), all)
	for i, name := range c.names {
		from, to := c.namespace(i)
		indexed := func(see func(T)) (int, error) { return store.ByIndex(name, see) }
		err = cmp.Or(err, c.proveList("ByIndex "+name, from, to, indexed))
	}
	for i, key := range c.keys {
		obj, exists := store.Get(key)
		if !exists {
			return cmp.Or(err, bench.Prove("object found as "+key, true, exists))
		}
		err = cmp.Or(err, bench.Prove("state of "+key+" found by its key", c.number(i), c.gear.Number(obj)))
	}
	return err
}

// proveList checks that list yields exactly the objects between two numbers, in their current
// state.
func (c *content[T]) proveList(what string, from, to int, list func(see func(T)) (int, error)) error {
	shown, seen := make(map[string]int64, to-from), 0
	_, err := list(func(obj T) {
		seen++
		shown[c.gear.Key(obj)] = c.gear.Number(obj)
	})
	right := 0
	for i := from; i < to; i++ {
		if number, ok := shown[c.keys[i]]; ok && number == c.number(i) {
			right++
		}
	}
	return cmp.Or(
		err,
		bench.Prove(what+": objects", to-from, seen),
		bench.Prove(what+": objects in their current state", to-from, right),
	)
}

// namespace returns the objects of namespace i: object k is in namespace k*n/len(pods), rounded
// down.
func (c *content[T]) namespace(i int) (from, to int) {
	n := len(c.names)
	first := func(namespace int) int { return (len(c.pods)*namespace + n - 1) / n }
	return first(i), first(i + 1)
}

// number returns the number of the current state of object i.
func (c *content[T]) number(i int) int64 { return int64(i + int(c.current[i])*len(c.pods)) }

// String describes the content in proofs.
func (c *content[T]) String() string {
	return fmt.Sprintf("%d objects in %d namespaces", len(c.pods), len(c.names))
}

// readers read in a loop until they are stopped.
type readers struct {
	stop    atomic.Bool
	running sync.WaitGroup
	reads   []int // by reader, set when it ends
	errs    []error
}

// reader does its i-th read and returns the number of reads.
type reader func(i int) (reads int, err error)

// startReaders runs each reader in its own goroutine. Each reads at least once, however late it is
// scheduled.
func startReaders(all []reader) *readers {
	r := &readers{reads: make([]int, len(all)), errs: make([]error, len(all))}
	for n, read := range all {
		r.running.Go(func() {
			total := 0
			for i := 0; (i == 0 || !r.stop.Load()) && r.errs[n] == nil; i++ {
				var reads int
				reads, r.errs[n] = read(i)
				total += reads
			}
			r.reads[n] = total
		})
	}
	return r
}

// end stops the readers and returns the total number of reads.
func (r *readers) end() (reads int, err error) {
	r.stop.Store(true)
	r.running.Wait()
	for i := range r.reads {
		reads += r.reads[i]
	}
	return reads, cmp.Or(r.errs...)
}

// readers returns n readers of a kind. Each checks what it reads.
func (c *content[T]) readers(n int, kind ReaderKind, store Store[T], keys *bench.Keys) []reader {
	all := make([]reader, n)
	for i := range all {
		switch kind {
		case ReadByIndex:
			all[i] = c.byIndexReader(store, i)
		case ReadOne:
			all[i] = c.getReader(store, keys.Picker(i+1)) // the writer's is 0
		default:
			all[i] = func(int) (int, error) { return 1, completeRead(len(c.pods), store.List(nil)) }
		}
	}
	return all
}

func completeRead(want, got int) error {
	return bench.Prove("objects that a reader was given", want, got)
}

// byIndexReader begins with a different namespace for each reader.
func (c *content[T]) byIndexReader(store Store[T], number int) reader {
	return func(i int) (int, error) {
		at := (number + i) % len(c.names)
		from, to := c.namespace(at)
		got, err := store.ByIndex(c.names[at], nil)
		return 1, cmp.Or(err, completeRead(to-from, got))
	}
}

// getReader reads in batches, so the check of the stop flag costs nothing.
func (c *content[T]) getReader(store Store[T], picker *bench.Picker) reader {
	const many = 64
	return func(int) (int, error) {
		for range many {
			at := picker.Next()
			obj, exists := store.Get(c.keys[at])
			if !exists || int(c.gear.Number(obj))%len(c.pods) != at {
				return 0, &bench.ProofError{What: "the object that a reader found under its key", Want: c.keys[at],
					Got: exists}
			}
		}
		return many, nil
	}
}
