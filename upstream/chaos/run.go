// Command chaos disturbs informers and "orrery run" on a real control plane, in eight steps, and
// checks that nothing is lost. Package internal/lab/chaos draws many more faults, in virtual time
// on the server in memory.
//
//	make -C upstream chaos               a run of about two minutes
//	make -C upstream chaos DURATION=5m   a longer one
//
// A process of "orrery run" and five informers of this process reach the API server through one link,
// which can be cut. Writers change namespaces and objects directly.
//
//	subjects ── faultnet.Proxy ──┐
//	                             ├── kube-apiserver ── etcd
//	writers and checks ──────────┘
//
// Each step disturbs while the writers write: see steps in run.go. Then the writers stop, and
// within two minutes
//
//   - every deleted namespace is gone, and so is every object of it;
//   - every informer's store equals what client-go lists, by UID and resourceVersion;
//   - every handler saw a valid history that ends in that state;
//   - orrery is ready, has few goroutines and open files, has logged no error, and has not ended by
//     itself.
//
// At the end orrery exits in time and with success, and the informers leave no goroutine, watch,
// request or connection.
//
// Orrery runs without an election, so that nothing excuses an exit. The election has tests in
// package e2e.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orrery/internal/lab/faultnet"
	"orrery/upstream/controlplane"
)

// config is what the flags say.
type config struct {
	duration     time.Duration // of the writing, over all steps
	dir          string        // receives the logs of all programs; "" is a temporary directory
	controlPlane string        // program; "" is controlplane.Config's default
	orrery       string        // program; "" is bin/orrery, looked for upwards
}

// shortestDuration leaves each step the time to delete some namespaces.
const shortestDuration = 40 * time.Second

// step is a disturbance. do returns when its cause is over.
type step struct {
	name string
	do   func(context.Context) error
}

// steps returns the run's steps, in order.
func (r *run) steps() []step {
	return []step{
		{"all connections are cut", r.cut},
		{"kube-apiserver is restarted", r.cluster.RestartAPIServer},
		{"kube-apiserver is killed", r.killAPIServer},
		{"orrery is restarted", r.restart},
		{"orrery is killed", r.kill},
		{"etcd is compacted", r.compact},
		{"kube-apiserver loses its history", r.cluster.ForgetHistory},
		{"etcd is restored from a backup", r.restore},
	}
}

// run is one run of all steps.
type run struct {
	config config
	dir    string
	began  time.Time

	cluster   *cluster
	backup    string // directory with etcd's data from the beginning
	link      *faultnet.Link
	proxy     *faultnet.Proxy
	orrery    *process
	observers *observers
	writers   *writers
}

// runAll makes a run and returns nil when every check passed. The error describes what was wrong,
// and names the directory with the logs. A temporary directory is removed after a success.
func runAll(ctx context.Context, config config) (err error) {
	config.duration = max(config.duration, shortestDuration)
	if config.orrery == "" {
		if config.orrery, err = controlplane.FindUp(filepath.Join("bin", "orrery")); err != nil {
			return err
		}
	}
	r := &run{config: config, began: time.Now(), link: &faultnet.Link{}}
	if r.dir, err = makeDir(config.dir); err != nil {
		return err
	}
	if err := errors.Join(r.play(ctx), r.close()); err != nil {
		return fmt.Errorf("%w\nthe logs of all programs are in %s", err, r.dir)
	}
	if config.dir == "" {
		return os.RemoveAll(r.dir)
	}
	return nil
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
func (r *run) play(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	for i, s := range r.steps() {
		r.record("step %d: %s", i+1, s.name)
		if err := r.disturb(ctx, s); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.name, err)
		}
	}
	return r.end(ctx)
}

// disturb plays a step in the middle of a period of writing, and checks what has come of it.
func (r *run) disturb(ctx context.Context, s step) error {
	period := r.config.duration / time.Duration(len(r.steps()))
	r.writers.start()
	defer r.writers.stop()
	pause(ctx, period/2)
	if err := s.do(ctx); err != nil {
		return err
	}
	pause(ctx, period/2)
	r.writers.stop()
	return r.settle(ctx)
}

// record prints a line with the time since the beginning.
func (r *run) record(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// start starts the control plane, the link, orrery and the informers.
func (r *run) start(ctx context.Context) (err error) {
	config := controlplane.Config{Binary: r.config.controlPlane, Dir: filepath.Join(r.dir, "controlplane")}
	if r.cluster, err = startCluster(ctx, config); err != nil {
		return err
	}
	r.writers = &writers{cluster: r.cluster}
	r.backup = filepath.Join(r.dir, "backup")
	if err := r.cluster.BackUpEtcd(ctx, r.backup); err != nil {
		return err
	}
	if r.proxy, err = faultnet.NewProxy("127.0.0.1:0", r.cluster.host(), r.link); err != nil {
		return err
	}
	if err := r.startOrrery(); err != nil {
		return err
	}
	kubeconfig, err := r.throughLink("informers", r.cluster.Kubeconfig())
	if err != nil {
		return err
	}
	if r.observers, err = observe(kubeconfig); err != nil {
		return err
	}
	r.record("everything runs; logs in %s", r.dir)
	return r.settle(ctx)
}

func (r *run) startOrrery() error {
	user, err := r.cluster.KubeconfigFor(orreryUser)
	if err != nil {
		return err
	}
	kubeconfig, err := r.throughLink("orrery", user)
	if err != nil {
		return err
	}
	r.orrery, err = newProcess(r.config.orrery, kubeconfig, filepath.Join(r.dir, "orrery.log"))
	if err != nil {
		return err
	}
	return r.orrery.start()
}

// throughLink writes a kubeconfig file like another one, for a subject behind the link. TLS is
// between the subject and kube-apiserver.
func (r *run) throughLink(name, kubeconfig string) (string, error) {
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.dir, name+".kubeconfig")
	return file, os.WriteFile(file, replaceHost(text, r.cluster.host(), r.proxy.Addr().String()), 0o600)
}

// cut cuts all connections, and the new ones as well.
func (r *run) cut(ctx context.Context) error {
	for range 4 {
		r.link.Cut()
		pause(ctx, 500*time.Millisecond)
	}
	return nil
}

func (r *run) killAPIServer(ctx context.Context) error {
	r.cluster.KillAPIServer()
	pause(ctx, 3*time.Second)
	return r.cluster.StartAPIServer(ctx)
}

func (r *run) restart(ctx context.Context) error {
	if err := r.orrery.terminate(ctx); err != nil {
		return err
	}
	return r.orrery.start()
}

func (r *run) kill(context.Context) error {
	r.orrery.kill()
	return r.orrery.start()
}

func (r *run) compact(ctx context.Context) error {
	_, err := r.cluster.CompactEtcd(ctx)
	return err
}

// restore restores etcd from the backup, so that all subjects are ahead of their server. They must
// notice before somebody writes: once the server has passed their position, nobody can.
// kube-controller-manager does not notice, and is started anew.
func (r *run) restore(ctx context.Context) error {
	r.writers.stop()
	if err := r.cluster.RestoreEtcd(ctx, r.backup); err != nil {
		return err
	}
	r.cluster.KillControllerManager()
	if err := r.cluster.StartControllerManager(ctx); err != nil {
		return err
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	r.writers.start()
	return nil
}

// end ends the subjects and checks that nothing of them is left.
func (r *run) end(ctx context.Context) error {
	if err := r.orrery.terminate(ctx); err != nil {
		return err
	}
	found := r.observers.end()
	if open := awaitZero(func() int { return r.link.Snapshot().Open }); open > 0 {
		found = append(found, fmt.Sprintf("all subjects have ended, and %d connections are open", open))
	}
	r.record("the subjects have ended")
	return problems(append(found, r.faults()...))
}

// close ends everything that still runs.
func (r *run) close() error {
	if r.orrery != nil {
		r.orrery.kill()
	}
	if r.observers != nil {
		r.observers.stop()
	}
	if r.proxy != nil {
		_ = r.proxy.Close() // an error here has no consequence
	}
	if r.cluster == nil {
		return nil
	}
	return r.cluster.Stop()
}

// pause waits until d has passed or the run is cancelled.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
