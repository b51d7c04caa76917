package workloads

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/lab/bench"
)

// StoreConfig holds the flags of "lab bench store".
type StoreConfig struct {
	// Objects is the number of objects in the store, in 100 namespaces of equal size.
	Objects int
	// Readers is the number of goroutines that list all objects in a loop while one writes.
	Readers int
	bench.Load
}

// AddTo adds a flag for each field.
func (c *StoreConfig) AddTo(flags *pflag.FlagSet) {
	bench.NumberVar(flags, &c.Objects, "objects", 100_000, 1, 10_000_000, "how many objects are in the store")
	bench.NumberVar(flags, &c.Readers, "readers", 4, 0, 10_000, "goroutines that list all objects in a loop")
	c.Load.AddTo(flags, "objects")
}

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
	phase := newContent(g, cfg).phase
	result, err := bench.Driver{Load: cfg.Load, Meter: meter, Event: "write", Handled: "writes", Phase: phase}.Run(ctx)
	if err != nil || cfg.Readers == 0 {
		return result, err
	}
	// The readers' cost would be counted.
	cost := func(f bench.Figure) bool { return strings.HasSuffix(f.Name, " per write") }
	result.Figures = slices.DeleteFunc(result.Figures, cost)
	return result, nil
}

// content is the expected content of a store, and the objects to be written.
type content[T any] struct {
	gear StoreGear[T]
	cfg  *StoreConfig
	pods []Pod
	// states are the objects in two states each: the event "object i has changed" brings the
	// other one. The number of a state is the pod's number, plus len(pods) for the second state.
	states     [2][]T
	current    []uint8 // the state written last
	namespaces int
}

// newContent makes objects in at most 100 namespaces.
func newContent[T any](gear StoreGear[T], cfg *StoreConfig) *content[T] {
	n := cfg.Objects
	c := &content[T]{gear: gear, cfg: cfg, current: make([]uint8, n), namespaces: min(n, 100)}
	c.pods = MakePods(n, c.namespaces)
	for state := range c.states {
		for i, p := range c.pods {
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

// phase writes while readers read, and proves the content afterwards. A latency ends when the write
// is done.
func (c *content[T]) phase(ctx context.Context, p *bench.Phase) error {
	store, err := c.fill()
	if err != nil {
		return err
	}
	keys := bench.NewKeys(c.cfg.Objects, c.cfg.Distribution, c.cfg.Seed)
	stop := c.read(store)
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
	reads, readError := stop()
	if c.cfg.Readers > 0 {
		p.Also("reads", reads)
	}
	p.Proof = fmt.Sprintf("%d writes while %d readers read %d times, completely each time; "+
		"afterwards all objects in the state written last, by list, index and key", p.Done, c.cfg.Readers, reads)
	return cmp.Or(err, readError, c.prove(store))
}

// read starts the readers. Each reads at least once, however late it is scheduled, and checks that
// its lists are complete. stop stops them and returns how many lists they got.
func (c *content[T]) read(store Store[T]) (stop func() (reads int, err error)) {
	var stopped atomic.Bool
	var reads atomic.Int64
	var running sync.WaitGroup
	errs := make([]error, c.cfg.Readers)
	for i := range errs {
		running.Go(func() {
			for first := true; (first || !stopped.Load()) && errs[i] == nil; first = false {
				errs[i] = bench.Prove("objects that a reader was given", len(c.pods), store.List(nil))
				reads.Add(1)
			}
		})
	}
	return func() (int, error) {
		stopped.Store(true)
		running.Wait()
		return int(reads.Load()), cmp.Or(errs...)
	}
}

// prove checks that every read method shows every object in its current state.
func (c *content[T]) prove(store Store[T]) error {
	all := func(see func(T)) (int, error) { return store.List(see), nil }
	err := c.proveList("List", 0, len(c.pods), all)
	for i := range c.namespaces {
		from, to := c.namespace(i)
		indexed := func(see func(T)) (int, error) { return store.ByIndex(PodNamespace(i), see) }
		err = cmp.Or(err, c.proveList("ByIndex "+PodNamespace(i), from, to, indexed))
	}
	wrong := 0
	for i, p := range c.pods {
		if obj, exists := store.Get(p.Key()); !exists || c.gear.Number(obj) != c.number(i) {
			wrong++
		}
	}
	return cmp.Or(err, bench.Prove("objects not found by their key, or in another state", 0, wrong))
}

// proveList checks that list yields exactly the objects between two numbers, in their current
// state.
func (c *content[T]) proveList(what string, from, to int, list func(see func(T)) (int, error)) error {
	shown, seen := make(map[string]int64, to-from), 0
	n, err := list(func(obj T) {
		seen++
		shown[c.gear.Key(obj)] = c.gear.Number(obj)
	})
	right := 0
	for i := from; i < to; i++ {
		if number, ok := shown[c.pods[i].Key()]; ok && number == c.number(i) {
			right++
		}
	}
	return cmp.Or(
		err,
		bench.Prove(what+": number of objects", to-from, n),
		bench.Prove(what+": objects", to-from, seen),
		bench.Prove(what+": objects in their current state", to-from, right),
	)
}

// namespace returns the objects of namespace i: object k is in namespace k*n/len(pods), rounded
// down.
func (c *content[T]) namespace(i int) (from, to int) {
	first := func(namespace int) int { return (len(c.pods)*namespace + c.namespaces - 1) / c.namespaces }
	return first(i), first(i + 1)
}

// number returns the number of the current state of object i.
func (c *content[T]) number(i int) int64 { return int64(i + int(c.current[i])*len(c.pods)) }

// String describes the content in proofs.
func (c *content[T]) String() string {
	return fmt.Sprintf("%d objects in %d namespaces", len(c.pods), c.namespaces)
}

// scenarioObjects is smaller in tests.
var scenarioObjects = 100_000

// stride leads from each object to a distant one, as events do. It is prime, so it visits all.
const stride = 7919

// Scenarios returns the pieces of work of the comparison.
func (g StoreGear[T]) Scenarios() []bench.Scenario {
	return []bench.Scenario{
		{Name: "store/update", Run: g.update},
		{Name: "store/by-index", Run: g.byIndex},
		{Name: "store/writes-with-readers", Run: g.writesWithReaders},
	}
}

// filled returns the content of a scenario and a store with it.
func (g StoreGear[T]) filled() (*content[T], Store[T], error) {
	c := newContent(g, &StoreConfig{Objects: scenarioObjects})
	store, err := c.fill()
	return c, store, err
}

// update stores events that concern distant objects, as from a watch, so the store's records are
// cold in the processor's caches. The new object is warm, as if just decoded: events arrive 16 at a
// time, and the benchmark reads their names before the clock goes on.
func (g StoreGear[T]) update(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	n := effort.Of(500_000, 100_000)
	c, store, err := g.filled()
	if err == nil {
		_, err = c.updates(ctx, store, scenarioObjects) // warm-up
	}
	if err != nil {
		return bench.Outcome{}, err
	}
	var took time.Duration
	usage := bench.Measure(func() { took, err = c.updates(ctx, store, n) })
	usage.Elapsed = took
	if err == nil {
		err = c.prove(store)
	}
	return bench.Outcome{
		Figures: usage.PerOp(n),
		Proof:   fmt.Sprintf("%d updates of %v; store and index show the last state of each", n, c),
	}, err
}

// updates stores the objects of n events and returns the time spent in the store.
func (c *content[T]) updates(ctx context.Context, store Store[T], n int) (took time.Duration, err error) {
	var arrived [16]T // n is a multiple of its length
	for from := 0; from < n && ctx.Err() == nil; from += len(arrived) {
		for k := range arrived {
			i := (from + k) * stride % len(c.pods)
			arrived[k] = c.next(i)
			if err := bench.Prove("the object that is written", c.pods[i].Key(), c.gear.Key(arrived[k])); err != nil {
				return took, err
			}
		}
		began := time.Now()
		for _, obj := range arrived {
			if err := store.Update(obj); err != nil {
				return took, err
			}
		}
		took += time.Since(began)
	}
	return took, ctx.Err()
}

// byIndex asks for the objects of each namespace in turn. Each side builds the slice that its
// callers get. Reading the objects is left out, as it costs both sides the same.
func (g StoreGear[T]) byIndex(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	n := effort.Of(10_000, 2000)
	c, store, err := g.filled()
	names, sizes := make([]string, c.namespaces), make([]int, c.namespaces)
	for i := range names {
		from, to := c.namespace(i)
		names[i], sizes[i] = PodNamespace(i), to-from
	}
	read := func(n int) {
		for i := 0; i < n && err == nil; i++ {
			var got int
			got, err = store.ByIndex(names[i%len(names)], nil)
			err = cmp.Or(err, ctx.Err(), bench.Prove("objects of a namespace", sizes[i%len(names)], got))
		}
	}
	read(len(names)) // warm-up
	usage := bench.Measure(func() { read(n) })
	if err == nil {
		err = c.prove(store)
	}
	return bench.Outcome{
		Figures: usage.PerOp(n),
		Proof:   fmt.Sprintf("%d lists of the %d objects of a namespace of %v", n, len(c.pods)/c.namespaces, c),
	}, err
}

// writesWithReaders updates objects in one goroutine, while four others list all of them in a loop.
func (g StoreGear[T]) writesWithReaders(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	lasts := time.Duration(effort.Of(1000, 300)) * time.Millisecond
	p := &bench.Phase{Driver: bench.Driver{Load: bench.Load{Duration: lasts}}}
	c := newContent(g, &StoreConfig{Objects: scenarioObjects, Readers: 4,
		Load: bench.Load{Distribution: bench.Uniform, Seed: 1}})
	err := c.phase(ctx, p)
	return bench.Outcome{
		Figures: map[string]float64{"writes/s": float64(p.Done) / p.Usage.Elapsed.Seconds()},
		Proof: fmt.Sprintf("updates of %v while 4 readers list all of them; each list complete; "+
			"store and index show the last state of each", c),
	}, err
}
