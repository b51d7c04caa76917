package dispatchbench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"orrery/internal/lab/bench"
)

// promise is what a stalled handler must have received when it has caught up.
type promise string

const (
	everyUpdate promise = "all of them, in order, each from the one before"
	finalState  promise = "their final state"
)

// stalledScenario sends 500,000 updates of one small pod to two handlers. One of them hangs in its
// first callback until the other has all updates; then the live heap of the process is measured.
// Each update is an object of its own, as if decoded. Afterwards the stalled handler processes its
// backlog and must receive what was promised: the final state by a consistent history for the
// coalescing design, all updates for the others. With heads of pods there are 100,000 updates.
func stalledScenario(name string, subject Subject, kind Kind, promised promise) bench.Scenario {
	return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
		n := effort.Of(500_000, 50_000)
		if kind == Heads {
			n = effort.Of(100_000, 20_000) // enough to show the cost of an update, and quicker for client-go
		}
		st, err := newStalled(subject, kind, n, promised)
		if err != nil {
			return bench.Outcome{}, err
		}
		defer st.informer.Stop()
		defer st.release()
		base := bench.LiveHeap()

		began := time.Now()
		if err := st.send(ctx, n); err != nil {
			return bench.Outcome{}, err
		}
		elapsed := time.Since(began)
		live := bench.LiveHeap()

		st.release()
		if err := await(ctx, st.slow.finished); err != nil {
			return bench.Outcome{}, err
		}
		if err := st.verify(n); err != nil {
			return bench.Outcome{}, err
		}
		const mib = 1 << 20
		return bench.Outcome{
			Figures: map[string]float64{
				"live MiB":   float64(live) / mib,
				"before MiB": float64(base) / mib,
				"B/update":   max(float64(live)-float64(base), 0) / float64(n),
				"s":          elapsed.Seconds(),
			},
			Proof: fmt.Sprintf("%d updates of one object; a handler that hung received %s, and so did one that did not", n, promised),
		}, nil
	}}
}

// stalled is an informer of one object with a stalled and a healthy handler.
type stalled struct {
	informer      Informer
	object        Identity
	decoded       State
	slow, healthy *tracker
	released      bool
}

func newStalled(subject Subject, kind Kind, n int, promised promise) (*stalled, error) {
	informer, err := subject.New(kind)
	if err != nil {
		return nil, err
	}
	last := version(n)
	st := &stalled{
		informer: informer,
		object:   Identity{Namespace: "namespace-000", Name: "web-7c5ddbdf54-00000"},
		slow:     newTracker(promised, last),
		healthy:  newTracker(promised, last),
	}
	st.slow.hang = make(chan struct{})
	if st.decoded, err = informer.Decode(document(0)); err != nil {
		return nil, err
	}
	for _, h := range []Handler{st.slow, st.healthy} {
		if err := informer.AddHandler(h); err != nil {
			return nil, err
		}
	}
	return st, informer.Start([]State{st.after(0)}, 1024)
}

// after returns the object after i updates.
func (st *stalled) after(i int) State {
	id := st.object
	id.ResourceVersion = version(i)
	return st.informer.Copy(st.decoded, id)
}

// send sends all updates and waits until the healthy handler has them.
func (st *stalled) send(ctx context.Context, n int) error {
	for i := 1; i <= n && ctx.Err() == nil; i++ {
		st.informer.Send(st.after(i))
	}
	return await(ctx, st.healthy.finished)
}

// release lets the stalled handler continue.
func (st *stalled) release() {
	if !st.released {
		st.released = true
		close(st.slow.hang)
	}
}

func (st *stalled) verify(n int) error {
	for _, f := range []*tracker{st.slow, st.healthy} {
		if f.fault != nil {
			return f.fault
		}
		if f.promised == everyUpdate {
			if err := bench.Prove("updates delivered to a handler", n, f.updates); err != nil {
				return err
			}
		}
	}
	versions := st.informer.Versions()
	key := st.object.Namespace + "/" + st.object.Name
	return bench.Prove("version in the store", version(n), versions[key])
}

// tracker is a handler that follows one object to its last version.
type tracker struct {
	promised promise
	last     string
	hang     chan struct{} // if not nil, the first update waits for it
	finished chan struct{} // closed at the last version

	version string // the last one delivered
	updates int    // updates delivered
	fault   error
}

func newTracker(promised promise, last string) *tracker {
	return &tracker{promised: promised, last: last, finished: make(chan struct{})}
}

// Counted returns false: every update is checked.
func (f *tracker) Counted() bool { return false }

func (f *tracker) OnAdd(id Identity) { f.version = id.ResourceVersion }

func (f *tracker) OnUpdate(oldVersion string, id Identity) {
	if f.hang != nil && f.updates == 0 {
		<-f.hang
	}
	f.updates++
	if f.fault == nil {
		f.fault = f.check(oldVersion, id.ResourceVersion)
	}
	f.version = id.ResourceVersion
	if f.version == f.last {
		close(f.finished)
	}
}

func (f *tracker) check(oldVersion, version string) error {
	if err := bench.Prove("the version before "+version, f.version, oldVersion); err != nil {
		return err
	}
	before, _ := strconv.Atoi(oldVersion)
	now, _ := strconv.Atoi(version)
	if f.promised == everyUpdate {
		return bench.Prove("the version after "+oldVersion, before+1, now)
	}
	return bench.Prove("a version newer than "+oldVersion, true, now > before)
}

func (f *tracker) OnDelete(id Identity) {
	f.fault = &bench.ProofError{What: "deletions", Want: 0, Got: id}
}
