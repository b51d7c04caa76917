package dispatchbench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"orrery/internal/lab/bench"
)

// promise is what a stalled handler must have been told when it has caught up.
type promise string

const (
	allTold  promise = "all of them, in order, each from the one before"
	lastTold promise = "what they have led to"
)

// stalledScenario sends 500,000 updates of one small pod to two handlers. One hangs in its first callback until all
// others are through; that is when the live heap of the process is measured. Each update is an object of its own, made
// as by a decoder. Afterwards the handler that hung works off what has piled up, and must have been told what was
// promised; of heads of pods it is 100,000 updates. The design that coalesces promises the final state, by a history that makes sense; the others all updates.
func stalledScenario(name string, subject Subject, kind Kind, promised promise) bench.Scenario {
	return bench.Scenario{Name: name, Fresh: true, Run: func(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
		n := effort.Of(500_000, 50_000)
		if kind == Heads {
			n = effort.Of(100_000, 20_000) // which says as much of what an update costs, and takes client-go less long
		}
		st, err := newStalled(subject, kind, n, promised)
		if err != nil {
			return bench.Outcome{}, err
		}
		defer st.informer.Stop()
		defer st.let()
		base := bench.LiveHeap()

		meter.Begin("updates behind a stalled handler", "updates", 0, int64(n))
		began := time.Now()
		if err := st.send(ctx, n, meter); err != nil {
			return bench.Outcome{}, err
		}
		elapsed := time.Since(began)
		live := bench.LiveHeap()

		meter.Begin("the stalled handler catches up", "updates", 0, 0)
		st.let()
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
			Proof: fmt.Sprintf("%d updates of one object; a handler that hung was told %s, and so was one that did not", n, promised),
		}, nil
	}}
}

// stalled is an informer of one object with a handler that hangs and one that does not.
type stalled struct {
	informer      Informer
	object        Identity
	first         int // state
	slow, healthy *follower
	released      bool
}

func newStalled(subject Subject, kind Kind, n int, promised promise) (*stalled, error) {
	informer, err := subject.New(kind)
	if err != nil {
		return nil, err
	}
	last := strconv.Itoa(firstVersion + n)
	st := &stalled{
		informer: informer,
		object:   Identity{Namespace: "namespace-000", Name: "web-7c5ddbdf54-00000"},
		slow:     newFollower(promised, last),
		healthy:  newFollower(promised, last),
	}
	st.slow.hang = make(chan struct{})
	loaded, err := informer.Load(document(0))
	if err != nil {
		return nil, err
	}
	st.first = informer.Copy(loaded, st.version(0))
	for _, h := range []Handler{st.slow, st.healthy} {
		if err := informer.AddHandler(h); err != nil {
			return nil, err
		}
	}
	return st, informer.Start([]int{st.first}, 1024)
}

func (st *stalled) version(i int) Identity {
	id := st.object
	id.ResourceVersion = strconv.Itoa(firstVersion + i)
	return id
}

// send sends all updates and waits until the healthy handler has been told of them.
func (st *stalled) send(ctx context.Context, n int, meter *bench.Meter) error {
	const batch = 1000
	for i := 1; i <= n; i++ {
		st.informer.SendCopy(st.first, st.version(i))
		if i%batch == 0 {
			meter.Count(batch)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return await(ctx, st.healthy.finished)
}

// let lets the handler go on.
func (st *stalled) let() {
	if !st.released {
		st.released = true
		close(st.slow.hang)
	}
}

func (st *stalled) verify(n int) error {
	for _, f := range []*follower{st.slow, st.healthy} {
		if f.fault != nil {
			return f.fault
		}
		if f.promised == allTold {
			if err := bench.Prove("updates told to a handler", n, f.told); err != nil {
				return err
			}
		}
	}
	versions := st.informer.Versions()
	key := st.object.Namespace + "/" + st.object.Name
	return bench.Prove("version in the store", st.version(n).ResourceVersion, versions[key])
}

// await waits for a handler, but not for ever.
func await(ctx context.Context, done <-chan struct{}) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return &bench.ProofError{What: "the last event, told to the handler", Want: "told", Got: "not told within " + patience.String()}
	}
}

// follower is a handler that follows one object to its last version.
type follower struct {
	promised promise
	last     string
	hang     chan struct{} // if not nil, the first update waits for it
	finished chan struct{} // closed when the last version has been told

	version string // that was told
	told    int    // updates
	fault   error
}

func newFollower(promised promise, last string) *follower {
	return &follower{promised: promised, last: last, finished: make(chan struct{})}
}

// Counted says that every update is looked at.
func (f *follower) Counted() bool { return false }

func (f *follower) OnAdd(id Identity) { f.version = id.ResourceVersion }

func (f *follower) OnUpdate(oldVersion string, id Identity) {
	if f.hang != nil && f.told == 0 {
		<-f.hang
	}
	f.told++
	if f.fault == nil {
		f.fault = f.check(oldVersion, id.ResourceVersion)
	}
	f.version = id.ResourceVersion
	if f.version == f.last {
		close(f.finished)
	}
}

func (f *follower) check(oldVersion, version string) error {
	if err := bench.Prove("the version before "+version, f.version, oldVersion); err != nil {
		return err
	}
	before, _ := strconv.Atoi(oldVersion)
	now, _ := strconv.Atoi(version)
	if f.promised == allTold {
		return bench.Prove("the version after "+oldVersion, before+1, now)
	}
	return bench.Prove("a version after "+oldVersion+" that is newer", true, now > before)
}

func (f *follower) OnDelete(id Identity) {
	f.fault = &bench.ProofError{What: "deletions", Want: 0, Got: id}
}
