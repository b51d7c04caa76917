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

// steadyNamespace is for the informers' objects and is never deleted.
const steadyNamespace = "chaos-steady"

// The writers of each kind: their number, the names of each, and its pause.
const (
	namespaceWriters  = 4
	namespacesEach    = 3
	objectWriters     = 4
	objectsEach       = 15
	namespacePause    = 250 * time.Millisecond
	objectPause       = 60 * time.Millisecond
	definitionMinimum = 4 * time.Second
)

// writers change the cluster at random, each with names of its own, straight at kube-apiserver, and
// retry forever.
type writers struct {
	cluster *cluster
	writes  atomic.Int64 // that succeeded
	ended   sync.WaitGroup
	stop    context.CancelFunc

	// pause is read-locked during each write and locked while the writers are stopped.
	pause sync.RWMutex
}

// writer makes one random change and returns how long to pause.
type writer func(ctx context.Context, dice *rand.Rand) time.Duration

func newWriters(c *cluster) *writers { return &writers{cluster: c} }

// start runs all writers until end.
func (w *writers) start(seed uint64) {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	number := uint64(0)
	run := func(write writer) {
		number++
		dice := rand.New(rand.NewPCG(seed, number))
		w.ended.Go(func() {
			for ctx.Err() == nil {
				w.pause.RLock()
				rest := write(ctx, dice)
				w.pause.RUnlock()
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

// hold stops the writers and waits for writes in flight.
func (w *writers) hold() { w.pause.Lock() }

// release resumes the writers.
func (w *writers) release() { w.pause.Unlock() }

// end ends the writers, which must not be held.
func (w *writers) end() {
	w.stop()
	w.ended.Wait()
}

// record counts a successful write, and reports whether it was one.
func (w *writers) record(err error) bool {
	if err == nil {
		w.writes.Add(1)
	}
	return err == nil
}

// comeAndGo removes a type and adds it again.
func (w *writers) comeAndGo(ctx context.Context, dice *rand.Rand) time.Duration {
	rest := definitionMinimum + time.Duration(dice.IntN(6000))*time.Millisecond
	if dice.IntN(2) == 0 {
		w.record(w.cluster.undefine(ctx, gears))
		return rest / 2
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	w.record(w.cluster.define(short, gears))
	return rest
}

// Writers change valueLabel; ownerLabel is the UID of the namespace for which the object was
// written.
const (
	valueLabel = "chaos.example.org/value"
	ownerLabel = "chaos.example.org/namespace-uid"
	// holdFinalizer holds an object, and with it its namespace.
	holdFinalizer = "chaos.example.org/hold"
)

func patchOfValue(dice *rand.Rand) []byte {
	return fmt.Appendf(nil, `{"metadata":{"labels":{%q:"%d"}}}`, valueLabel, dice.IntN(1e9))
}
