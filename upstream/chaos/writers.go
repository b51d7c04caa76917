package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// steadyNamespace is never deleted. What is written there is for the informers.
const steadyNamespace = "chaos-steady"

// The writers: how many there are of each kind, how many names each has, how long each rests.
const (
	namespaceWriters  = 4
	namespacesEach    = 3
	objectWriters     = 4
	objectsEach       = 15
	namespacePause    = 250 * time.Millisecond
	objectPause       = 60 * time.Millisecond
	definitionMinimum = 4 * time.Second
)

// writers change the cluster at random, each in names of its own, straight at kube-apiserver, and never give up.
type writers struct {
	cluster *cluster
	writes  atomic.Int64 // that succeeded
	ended   sync.WaitGroup
	stop    context.CancelFunc

	// gate is held for reading during each write, and for writing while nothing is to be written.
	gate sync.RWMutex
}

// writer does one thing at random, and returns how long to rest.
type writer func(ctx context.Context, dice *rand.Rand) time.Duration

func newWriters(c *cluster) *writers { return &writers{cluster: c} }

// start lets all writers write, until end.
func (w *writers) start(seed uint64) {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	number := uint64(0)
	run := func(write writer) {
		number++
		dice := rand.New(rand.NewPCG(seed, number))
		w.ended.Go(func() {
			for ctx.Err() == nil {
				w.gate.RLock()
				rest := write(ctx, dice)
				w.gate.RUnlock()
				pause(ctx, rest)
			}
		})
	}
	for i := range namespaceWriters {
		run(newNamespaceWriter(w, i).write)
	}
	for i := range objectWriters {
		gvr := []schema.GroupVersionResource{configMaps, secrets, widgets, gears}[i%4]
		run((&objectWriter{writers: w, gvr: gvr, number: i}).write)
	}
	run(w.comeAndGo)
}

// hold keeps the writers from writing. When it returns no write is under way.
func (w *writers) hold() { w.gate.Lock() }

// release lets them write again.
func (w *writers) release() { w.gate.Unlock() }

// end stops the writers, which must not be held.
func (w *writers) end() {
	w.stop()
	w.ended.Wait()
}

// note counts a write that succeeded, and tells whether it did.
func (w *writers) note(err error) bool {
	if err == nil {
		w.writes.Add(1)
	}
	return err == nil
}

// comeAndGo takes a type away and brings it back.
func (w *writers) comeAndGo(ctx context.Context, dice *rand.Rand) time.Duration {
	rest := definitionMinimum + time.Duration(dice.IntN(6000))*time.Millisecond
	if dice.IntN(2) == 0 {
		w.note(w.cluster.undefine(ctx, gears))
		return rest / 2
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	w.note(w.cluster.define(short, gears))
	return rest
}

// valueLabel is what writers change; ownerLabel is the UID of the namespace in which they believed to write.
const (
	valueLabel = "chaos.example.org/value"
	ownerLabel = "chaos.example.org/namespace-uid"
	// holdFinalizer keeps an object, and with it its namespace.
	holdFinalizer = "chaos.example.org/hold"
)

func patchOfValue(dice *rand.Rand) []byte {
	return fmt.Appendf(nil, `{"metadata":{"labels":{%q:"%d"}}}`, valueLabel, dice.IntN(1e9))
}
