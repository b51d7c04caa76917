package workloads

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
)

// world is an informer with its handlers, and the events that are sent to them. Each version of an
// object has a number, from which its resource version is made. Each object has two states with
// numbers of their own, made beforehand and sent in turn. Versions that are sent once, as the
// latency needs them, have the numbers after those. The last object is the mark: its updates end a
// phase and are not counted.
type world struct {
	informer  DispatchInformer
	merges    bool
	names     []podName  // by object
	states    [][2]State // by object
	witnesses []*witness

	last []int // by object: the number of the version sent last
	sent int   // events, the mark's not included

	once []onceEvent  // the versions that are sent once, by their order
	due  *bench.Phase // knows when they are due; may be nil
}

// podName is the name of an object.
type podName struct{ namespace, name string }

// onceEvent is a version of an object that is sent once.
type onceEvent struct{ object, previous int32 }

// firstVersion gives the versions seven digits.
const firstVersion = 1_000_000

// newWorld makes all states and starts the informer, with its handlers synced.
func newWorld(
	subject DispatchSubject, cfg *DispatchConfig, buffer int, prepare func(*witness),
) (_ *world, err error) {
	w := &world{informer: subject.New(), merges: subject.Merges()}
	var listed []State
	for object, key := range bench.NewKeys(cfg.Objects+1, bench.Uniform, cfg.Seed).All() {
		namespace, name, _ := strings.Cut(key, "/")
		w.names = append(w.names, podName{namespace, name})
		w.last = append(w.last, 2*object)
		var states [2]State
		for i := range states {
			if states[i], err = w.informer.Decode(w.document(object, 2*object+i)); err != nil {
				return nil, err
			}
		}
		w.states, listed = append(w.states, states), append(listed, states[0])
	}
	for range cfg.Handlers {
		witness := newWitness(w)
		if prepare != nil {
			prepare(witness)
		}
		w.witnesses = append(w.witnesses, witness)
		if err := w.informer.AddHandler(witness); err != nil {
			return nil, err
		}
	}
	return w, w.informer.Start(listed, buffer)
}

// document returns the JSON of a version of an object. Every state is decoded from a document of
// its own, so that no two share memory that those from a server do not share.
func (w *world) document(object, number int) []byte {
	id := w.names[object]
	return fmt.Appendf(nil, podDocument, id.name, id.namespace, versionOf(number))
}

func versionOf(number int) string { return strconv.Itoa(firstVersion + number) }

// number returns the number of a version, or -1.
func (w *world) number(version string) int {
	v := 0
	for i := range len(version) {
		v = 10*v + int(version[i]-'0')
	}
	if v -= firstVersion; v < 0 || v >= w.stateCount()+len(w.once) {
		return -1
	}
	return v
}

// stateCount is the number of states, and so the number of the first version that is sent once.
func (w *world) stateCount() int { return 2 * len(w.names) }

// mark is the object whose events end a phase.
func (w *world) mark() int { return len(w.names) - 1 }

// object returns the object of a version.
func (w *world) object(number int) int {
	if i := number - w.stateCount(); i >= 0 {
		return int(w.once[i].object)
	}
	return number / 2
}

// previous returns the version of the same object that was sent before.
func (w *world) previous(number int) int {
	if i := number - w.stateCount(); i >= 0 {
		return int(w.once[i].previous)
	}
	return number ^ 1
}

// send sends the other state of an object.
func (w *world) send(object int) {
	number := 2 * object
	if w.last[object] == number {
		number++
	}
	w.last[object] = number
	if object != w.mark() {
		w.sent++
	}
	w.informer.Send(w.states[object][number%2])
}

// play sends n states, of one object after the other, as fast as the informer takes them.
func (w *world) play(n int) {
	for range n {
		w.send(w.sent % w.mark())
	}
}

// sendOnce sends the i-th version that is sent once, a state of an object.
func (w *world) sendOnce(i, object int, state State) {
	w.once[i] = onceEvent{int32(object), int32(w.last[object])}
	w.last[object] = w.stateCount() + i
	w.sent++
	w.informer.Send(state)
}

// count makes the handlers count the next n updates unchecked, until resume. Call both after drain.
func (w *world) count(n int) {
	for _, witness := range w.witnesses {
		witness.counting = n
	}
}

func (w *world) resume() {
	for _, witness := range w.witnesses {
		copy(witness.delivered, w.last)
	}
}

// deliveryTimeout is how long a handler may take to receive an event before the event counts as
// lost. It is long enough for an overloaded machine.
const deliveryTimeout = 5 * time.Minute

// drain sends the mark and waits until every handler has received it, and so everything before it.
func (w *world) drain(ctx context.Context) error {
	w.send(w.mark())
	for _, witness := range w.witnesses {
		if err := await(ctx, witness.marked); err != nil {
			return err
		}
	}
	return nil
}

// await waits for a handler, up to deliveryTimeout.
func await(ctx context.Context, done <-chan struct{}) error {
	timer := time.NewTimer(deliveryTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return bench.Prove("the last event", "delivered", "not within "+deliveryTimeout.String())
	}
}

// verify proves that every handler received everything, and that the store holds the final state.
// Call it after drain.
func (w *world) verify() error {
	for _, witness := range w.witnesses {
		if err := witness.verify(); err != nil {
			return err
		}
	}
	versions := map[podName]string{}
	for _, state := range w.informer.Stored() {
		versions[nameOf(state)] = state.GetResourceVersion()
	}
	for object, id := range w.names {
		want := versionOf(w.last[object])
		if err := bench.Prove("version of "+id.name+" in the store", want, versions[id]); err != nil {
			return err
		}
	}
	return bench.Prove("objects in the store", len(w.names), len(versions))
}

// witness is a handler that checks every event. It is owned by the handler's goroutine; the driver
// reads it only between drain and the next event, except for seen.
type witness struct {
	world *world
	// observe, if not nil, is called first with each event but the mark's.
	observe func()
	// work, if not nil, is the handler's simulated work.
	work func()
	// marked receives when the mark has arrived.
	marked chan struct{}

	delivered []int // by object: the number of the version delivered last; -1 before the initial list
	events    int   // delivered since the initial list, the mark's not included
	seen      atomic.Int64
	counting  int // the number of updates still to be counted unchecked
	latency   bench.Histogram
	fault     error // the first fault

	_ [64]byte // keeps handlers on separate cache lines
}

func newWitness(w *world) *witness {
	made := &witness{world: w, marked: make(chan struct{}, 1), delivered: make([]int, len(w.names))}
	for i := range made.delivered {
		made.delivered[i] = -1
	}
	return made
}

func (w *witness) OnAdd(state State) {
	number := w.begin(state)
	if number < 0 {
		return
	}
	object := w.world.object(number)
	if w.delivered[object] >= 0 || number != 2*object {
		w.wrong("each object of the initial list once", state)
	}
	w.delivered[object] = number
}

// OnUpdate checks an update, unless updates are only counted, as checks would be most of the
// measured time. A lost or an extra update is then still detected, because the mark is counted or
// checked in the wrong place, and because each object's next update must come from the last state
// sent.
func (w *witness) OnUpdate(old, state State) {
	if w.counting > 0 {
		w.counting--
		w.events++
		return
	}
	number := w.begin(state)
	if number < 0 {
		return
	}
	object := w.world.object(number)
	if object != w.world.mark() && w.observe != nil {
		w.observe()
	}
	before := w.delivered[object]
	if w.world.number(old.GetResourceVersion()) != before {
		w.wrong("an update from the state delivered before", state)
	}
	oldest, consistent := w.oldest(number, before)
	if !consistent {
		w.wrong("the next event of the object", state)
	}
	if i := oldest - w.world.stateCount(); i >= 0 && w.world.due != nil {
		w.latency.Record(w.world.due.Late(i))
	}
	w.delivered[object] = number
	if object == w.world.mark() {
		w.marked <- struct{}{}
		return
	}
	w.events++
	w.seen.Store(int64(w.events))
	if w.work != nil {
		w.work()
	}
}

func (w *witness) OnDelete(state State) { w.wrong("no deletion", state) }

// oldest returns the oldest event that an update stands for, which has waited longest, if the
// update follows the version delivered before. How many states were merged is unknown.
func (w *witness) oldest(number, before int) (oldest int, consistent bool) {
	for oldest = number; w.world.previous(oldest) != before; oldest = w.world.previous(oldest) {
		if !w.world.merges || oldest < w.world.stateCount() {
			return oldest, w.world.merges && number < w.world.stateCount()
		}
	}
	return oldest, true
}

// begin returns the number of a state's version, or -1.
func (w *witness) begin(state State) int {
	number := w.world.number(state.GetResourceVersion())
	if number < 0 {
		w.wrong("a version that was sent", state)
	} else if nameOf(state) != w.world.names[w.world.object(number)] {
		w.wrong("the object of the version", state)
	}
	return number
}

func nameOf(state State) podName { return podName{state.GetNamespace(), state.GetName()} }

func (w *witness) wrong(want string, state State) {
	if w.fault == nil {
		got := fmt.Sprintf("%s/%s at version %s", state.GetNamespace(), state.GetName(), state.GetResourceVersion())
		w.fault = &bench.ProofError{What: fmt.Sprintf("event %d of a handler", w.events), Want: want, Got: got}
	}
}

// verify returns the first fault, or a proof that the handler has everything that was sent.
func (w *witness) verify() error {
	if w.fault != nil {
		return w.fault
	}
	for object, last := range w.world.last {
		if w.delivered[object] != last {
			what := "the version delivered last of " + w.world.names[object].name
			return bench.Prove(what, versionOf(last), versionOf(w.delivered[object]))
		}
	}
	if w.world.merges {
		return nil
	}
	return bench.Prove("events delivered to a handler", w.world.sent, w.events)
}

// podDocument is a small pod as a server sends it: name, namespace and version.
const podDocument = `{
	"apiVersion": "v1",
	"kind": "Pod",
	"metadata": {
		"name": "%s",
		"generateName": "web-7c5ddbdf54-",
		"namespace": "%s",
		"uid": "0f9d2c34-5a1b-4c1e-9d55-20b9bbf1a0e1",
		"resourceVersion": "%s",
		"creationTimestamp": "2026-01-02T03:04:05Z",
		"labels": {"app": "web", "pod-template-hash": "7c5ddbdf54"},
		"ownerReferences": [{
			"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7c5ddbdf54",
			"uid": "9a1f4f0e-7b0e-4c8f-8a51-63a0f5f2d0aa", "controller": true, "blockOwnerDeletion": true
		}]
	},
	"spec": {
		"nodeName": "node-017",
		"restartPolicy": "Always",
		"serviceAccountName": "default",
		"terminationGracePeriodSeconds": 30,
		"containers": [{"name": "web", "image": "registry.example/web:1.17.3"}]
	},
	"status": {"phase": "Running", "podIP": "10.0.17.4", "startTime": "2026-01-02T03:04:07Z"}
}`
