package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/upstream/controlplane"
)

// run is one run of a plan.
type run struct {
	config Config
	plan   Plan
	began  time.Time
	dir    string

	cluster  *cluster
	guard    *guard
	shifts   *shifts // nil when there is one replica, or when delays are unbounded
	doors    map[string]*door
	replicas []*replica
	writers  *writers
	// observers is nil until they have started.
	observers *observers
	serverMu  sync.Mutex // held during a fault of the control plane
	beside    sync.WaitGroup

	logMu sync.Mutex // held while writing to config.Log
}

// Failure is the result of a run with violations.
type Failure struct {
	Seed       uint64
	Violations []string
	// Dir holds the logs of all programs, and the report.
	Dir string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("seed %d: %d violations:\n  - %s\nthe logs are in %s", f.Seed, len(f.Violations), strings.Join(f.Violations, "\n  - "), f.Dir)
}

// Run makes a run and returns nil when every check passed. Violations are a [*Failure]; any other
// error means that the run could not be made.
func Run(ctx context.Context, config Config) (err error) {
	config = config.withDefaults()
	r := &run{config: config, plan: NewPlan(config.Seed, config.Duration), began: time.Now(), doors: map[string]*door{}}
	if r.config.Orrery == "" {
		if r.config.Orrery, err = controlplane.FindUp(filepath.Join("bin", "orrery")); err != nil {
			return err
		}
	}
	if r.dir, err = makeDir(config.Dir); err != nil {
		return err
	}
	violations, err := r.play(ctx)
	if err == nil && len(violations) == 0 {
		if config.Dir == "" && !config.Keep {
			return os.RemoveAll(r.dir)
		}
		return nil
	}
	if len(violations) > 0 {
		slices.Sort(violations)
		violations = slices.Compact(violations)
		err = errors.Join(&Failure{Seed: config.Seed, Violations: violations, Dir: r.dir}, err)
	} else {
		err = fmt.Errorf("%w (the logs of all programs are in %s)", err, r.dir)
	}
	report := fmt.Sprintf("%s\n%v\n", r.plan, err)
	return errors.Join(err, os.WriteFile(filepath.Join(r.dir, "report.txt"), []byte(report), 0o600))
}

func makeDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "orrery-chaos-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// play is the run from its first process to its last.
func (r *run) play(ctx context.Context) (violations []string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer r.beside.Wait()
	defer stop()
	r.record("%s", strings.TrimRight(r.plan.String(), "\n"))
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	beside := make(chan []string, 1)
	r.beside.Go(func() {
		var found []string
		if r.config.Zombie {
			problems, err := r.playZombies(ctx)
			found = describe("zombies", problems, err)
		}
		beside <- found
	})
	if !r.plan.ColdStart {
		if err := r.startSubjects(); err != nil {
			return nil, err
		}
	}
	r.writers.start(r.config.Seed)
	for i, round := range r.plan.Rounds {
		if i > 0 && time.Since(r.began) > r.config.Duration {
			break
		}
		r.record("round %d", i+1)
		if err := r.disturb(ctx, round, i == 0 && r.plan.ColdStart); err != nil {
			return r.violations(), err
		}
		if found, err := r.quiet(ctx); err != nil || len(found) > 0 {
			return append(found, r.violations()...), err
		}
		if err := r.changeHandlers(ctx, i); err != nil {
			return r.violations(), err
		}
	}
	violations = append(violations, <-beside...)
	violations = append(violations, r.endSubjects(ctx)...)
	return append(violations, r.violations()...), ctx.Err()
}

// record logs a line with the time since the beginning.
func (r *run) record(format string, args ...any) {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	// An error of the log must not stop the run.
	_, _ = fmt.Fprintf(r.config.Log, "%s %6.1fs  %s\n", time.Now().Format(clock), time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// open starts the control plane and the doors before it.
func (r *run) open(ctx context.Context) (err error) {
	config := controlplane.Config{Binary: r.config.ControlPlane, Dir: filepath.Join(r.dir, "controlplane"), DisableWatchCache: r.plan.OldServer}
	if r.plan.OldServer {
		config.APIServerArgs = []string{"--feature-gates=WatchList=false"}
	}
	if r.cluster, err = startCluster(ctx, config); err != nil {
		return err
	}
	r.record("control plane is ready; logs in %s", r.dir)
	r.guard = &guard{cluster: r.cluster}
	if len(r.plan.Replicas) > 1 && !r.plan.has("drip") {
		r.shifts = &shifts{}
	}
	r.writers = newWriters(r.cluster)
	for _, name := range []string{atHTTP, atSocket} {
		if _, err := r.openDoor(name, r.cluster.Kubeconfig(), nil); err != nil {
			return err
		}
	}
	for i, planned := range r.plan.Replicas {
		args := []string{fmt.Sprintf("--leader-elect=%t", len(r.plan.Replicas) > 1)}
		if planned.WebSocket {
			args = append(args, "--watch-transport=websocket")
		}
		p, err := r.newReplica(replicaName(i), args...)
		if err != nil {
			return err
		}
		r.replicas = append(r.replicas, p)
	}
	return r.cluster.createNamespace(ctx, steadyNamespace)
}

func (r *run) newReplica(name string, args ...string) (*replica, error) {
	user, err := r.cluster.KubeconfigFor(replicaUser(name))
	if err != nil {
		return nil, err
	}
	d, err := r.openDoor(name, user, r.shifts)
	if err != nil {
		return nil, err
	}
	return newReplica(r.config.Orrery, name, d.kubeconfig, filepath.Join(r.dir, name+".log"), r.record, args...)
}

func (r *run) openDoor(name, user string, shifts *shifts) (*door, error) {
	file := filepath.Join(r.dir, strings.ReplaceAll(name, " ", "-")+".kubeconfig")
	d, err := openDoor(name, user, file, r.config.Seed, r.guard, shifts)
	if err == nil {
		r.doors[name] = d
	}
	return d, err
}

// startSubjects starts informers and replicas, which may have to wait for their server.
func (r *run) startSubjects() (err error) {
	if r.observers, err = observe(r.doors[atHTTP], r.doors[atSocket]); err != nil {
		return err
	}
	for _, p := range r.replicas {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

// changeHandlers adds a late handler to each informer, and sometimes removes one.
func (r *run) changeHandlers(ctx context.Context, round int) error {
	if round%2 == 1 {
		if err := r.observers.leave(ctx); err != nil {
			return err
		}
	}
	return r.observers.join()
}

// doorsAt returns the doors of a place.
func (r *run) doorsAt(place string) (doors []*door) {
	for name, d := range r.doors {
		if name == place || place == everywhere {
			doors = append(doors, d)
		}
	}
	return doors
}

func (r *run) replicaNamed(name string) *replica {
	for _, p := range r.replicas {
		if p.name == name {
			return p
		}
	}
	return nil
}

// disturb plays a round. It returns when all its faults have ended.
func (r *run) disturb(ctx context.Context, round Round, cold bool) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var steps sync.WaitGroup
	for _, s := range round.Steps {
		steps.Go(func() {
			pause(ctx, s.After)
			if err := r.step(ctx, s); err != nil {
				stop(fmt.Errorf("%s: %w", s, err))
			}
		})
	}
	if cold {
		pause(ctx, round.Lasts/4)
		r.record("the subjects start")
		if err := r.startSubjects(); err != nil {
			stop(err)
		}
	}
	pause(ctx, round.Lasts)
	steps.Wait()
	for _, d := range r.doors {
		d.heal()
	}
	return context.Cause(ctx)
}

// step begins a fault and ends it.
func (r *run) step(ctx context.Context, s Step) error {
	f, known := faultNamed(s.Fault)
	if !known || ctx.Err() != nil {
		return nil
	}
	r.record("%s", s)
	end, err := f.begin(ctx, r, s)
	if err != nil || end == nil {
		return err
	}
	pause(ctx, s.For)
	r.record("%s: %s is over", s.Where, s.Fault)
	return end(ctx)
}

// close ends everything that still runs.
func (r *run) close() error {
	for _, p := range r.replicas {
		p.abandon()
	}
	if r.writers != nil && r.writers.stop != nil {
		r.writers.end()
	}
	if r.observers != nil {
		r.observers.stop()
	}
	for _, d := range r.doors {
		d.close()
	}
	if r.cluster == nil {
		return nil
	}
	return r.cluster.Stop()
}
