// Package controlplane starts a genuine Kubernetes control plane on this machine: etcd,
// kube-apiserver, kube-controller-manager and, with fake nodes, kube-scheduler and kwok. They are
// the original components, compiled into one binary (cmd/controlplane) and run as child processes
// on loopback ports, without container, virtual machine or root; a start takes about three seconds
// and half a gigabyte of memory. This package generates the certificates, chooses the ports and
// waits until everything is ready. It imports nothing of Kubernetes, so that test programs link
// fast. By default the namespace controller is off, so that the controller under test can take its
// place. RBAC, admission policies and the aggregation layer are on; the user of [ControlPlane.Kubeconfig] may
// do everything, that of a file from [ControlPlane.KubeconfigFor] only what roles grant. Everything listens
// on 127.0.0.1. The server's URL survives restarts, and several control planes can run at once.
// [ControlPlane.Stop] ends all processes and goroutines; on Linux the kernel kills the components
// with their parent. A component that exits unexpectedly closes [ControlPlane.Failed], and Err and
// Stop return an [ExitError] with the end of its log. Further methods restart, kill, compact and
// restore the servers.
//
//	cp, err := controlplane.Start(ctx, controlplane.Config{FakeNodes: 1, Log: os.Stderr})
//	if err != nil {
//		return err
//	}
//	defer cp.Stop()
//	run("orrery", "run", "--kubeconfig", cp.Kubeconfig())
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// startTimeout bounds each wait for a component when the context has no deadline. It is for a
// component that hangs: a dead one ends the wait at once, and a dozen starts on a busy machine stay
// below it.
const startTimeout = 10 * time.Minute

// ControlPlane is a running Kubernetes control plane. Its methods are safe for concurrent use, but
// calls that start, restart or stop components must not overlap.
type ControlPlane struct {
	config  Config
	dir     string
	ports   componentPorts
	cluster *authority // signs client certificates
	api     *endpoint
	etcd    *endpoint

	observers sync.WaitGroup
	failed    chan struct{} // closed when err is set

	mu        sync.Mutex // guards the fields below
	processes map[string]*Process
	users     int   // kubeconfig files written for users
	err       error // the first unexpected exit of a component

	logMu sync.Mutex // held while writing to config.Log
}

// Start starts a control plane and returns when it is ready: the API server answers /readyz, the
// default namespace has its service account (if its controller runs), and the fake nodes are
// ready.
//
// The context bounds the start only; the caller must call Stop. A failed Start has stopped
// everything. Its error is an [*ExitError], with the end of the log, when a component died.
//
// kube-apiserver exits when its own start takes too long (half a minute for the bootstrap of
// roles). Start then starts everything anew, as a kubelet would. At most two starts run at a time in
// one process.
func Start(ctx context.Context, config Config) (*ControlPlane, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	select {
	case starts <- struct{}{}:
		defer func() { <-starts }()
	case <-ctx.Done():
		return nil, fmt.Errorf("control plane: %w", ctx.Err())
	}
	for try := 1; ; try++ {
		cp, err := startOnce(ctx, config)
		if err == nil {
			return cp, nil
		}
		if !gaveUp(err) || try == mostTries {
			return nil, err
		}
		cp.logf("%s timed out during its start, retrying", APIServer)
	}
}

// startOnce returns a control plane, which is stopped if there is an error.
func startOnce(ctx context.Context, config Config) (*ControlPlane, error) {
	cp := &ControlPlane{
		config:    config,
		failed:    make(chan struct{}),
		processes: make(map[string]*Process),
	}
	if err := cp.start(ctx); err != nil {
		cp.Stop()
		return cp, fmt.Errorf("control plane: %w", err)
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context) error {
	begin := time.Now()
	if err := cp.makeDir(); err != nil {
		return err
	}
	if err := cp.ports.reserve(); err != nil {
		return err
	}
	if err := cp.makeCredentials(); err != nil {
		return err
	}
	if err := cp.startEtcd(ctx); err != nil {
		return err
	}
	if err := cp.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := cp.startClients(ctx); err != nil {
		return err
	}
	cp.logf("control plane ready after %.1f s: %s", time.Since(begin).Seconds(), cp.Server())
	return nil
}

// makeDir creates the directory with its subdirectories.
func (cp *ControlPlane) makeDir() (err error) {
	if cp.dir, err = os.MkdirTemp("", "orrery-controlplane-"); err != nil {
		return err
	}
	for _, name := range []string{"pki", "logs", "kubeconfigs"} {
		if err := os.Mkdir(filepath.Join(cp.dir, name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (cp *ControlPlane) startEtcd(ctx context.Context) error {
	if _, err := cp.launch(Etcd, cp.etcdArgs()); err != nil {
		return err
	}
	return cp.await(ctx, Etcd, func(ctx context.Context) error {
		return cp.etcd.get(ctx, "/health", nil)
	})
}

// StartAPIServer starts kube-apiserver after [ControlPlane.KillAPIServer] on the same port with the
// same arguments, and returns when it is ready. It fails if the server is running.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	if _, err := cp.launch(APIServer, cp.apiServerArgs()); err != nil {
		return err
	}
	return cp.await(ctx, APIServer, func(ctx context.Context) error {
		return cp.api.get(ctx, "/readyz", nil)
	})
}

// startClients starts the API server's clients together and waits until they work.
func (cp *ControlPlane) startClients(ctx context.Context) error {
	if _, err := cp.launch(ControllerManager, cp.controllerManagerArgs()); err != nil {
		return err
	}
	if cp.config.FakeNodes > 0 {
		if _, err := cp.launch(Scheduler, cp.schedulerArgs()); err != nil {
			return err
		}
		if _, err := cp.launch(Kwok, cp.kwokArgs()); err != nil {
			return err
		}
	}
	if err := cp.await(ctx, ControllerManager, cp.controllersReady); err != nil {
		return err
	}
	if cp.config.FakeNodes == 0 {
		return nil
	}
	if err := cp.await(ctx, Scheduler, cp.schedulerReady); err != nil {
		return err
	}
	return cp.await(ctx, Kwok, cp.nodesReady)
}

// launch starts a component and a goroutine that observes it.
func (cp *ControlPlane) launch(name string, args []string) (*Process, error) {
	if running := cp.process(name); running != nil {
		select {
		case <-running.Done():
		default:
			return nil, fmt.Errorf("start %s: it is already running", name)
		}
	}
	process, err := StartProcess(ProcessConfig{
		Name:    name,
		Path:    cp.config.Binary,
		Args:    append([]string{name}, args...),
		LogFile: cp.LogFile(name),
	})
	if err != nil {
		return nil, err
	}
	cp.mu.Lock()
	cp.processes[name] = process
	cp.mu.Unlock()
	cp.observers.Go(func() { cp.observe(process) })
	return process, nil
}

// observe waits for a process to end and records an unexpected end.
func (cp *ControlPlane) observe(process *Process) {
	<-process.Done()
	err := process.Err()
	if err == nil {
		return
	}
	cp.logf("%v", err)
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if cp.err == nil {
		cp.err = err
		close(cp.failed)
	}
}

// RestartAPIServer stops kube-apiserver gracefully (open watches end) and starts it on the same port.
// Its watch cache is then empty, so a watch from an earlier resourceVersion gets "too old".
func (cp *ControlPlane) RestartAPIServer(ctx context.Context) error {
	cp.process(APIServer).Stop(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("restart %s: %w", APIServer, err)
	}
	cp.logf("%s stopped", APIServer)
	return cp.StartAPIServer(ctx)
}

// KillAPIServer kills kube-apiserver, as a crash would: connections break, and everything else goes
// on.
func (cp *ControlPlane) KillAPIServer() {
	cp.process(APIServer).Kill()
	cp.logf("%s killed", APIServer)
}

// KillNodes kills kwok, as if all nodes lost their power. It needs Config.FakeNodes.
func (cp *ControlPlane) KillNodes() {
	cp.process(Kwok).Kill()
	cp.logf("%s killed", Kwok)
}

// KillControllerManager kills kube-controller-manager, as a crash would.
func (cp *ControlPlane) KillControllerManager() {
	cp.process(ControllerManager).Kill()
	cp.logf("%s killed", ControllerManager)
}

// Stop stops all components, etcd last, and removes their directory. It returns when none of their
// processes and goroutines is left. It returns Err, so that a test
// learns of a component that died early. Stop may be called twice.
func (cp *ControlPlane) Stop() error {
	cp.stopAll(ControllerManager, Scheduler, Kwok)
	cp.stopAll(APIServer)
	cp.stopAll(Etcd)
	cp.observers.Wait()
	return errors.Join(cp.Err(), os.RemoveAll(cp.dir))
}

// stopAll stops components in parallel, and ignores those that were never started.
func (cp *ControlPlane) stopAll(names ...string) {
	var stopping sync.WaitGroup
	for _, name := range names {
		if process := cp.process(name); process != nil {
			stopping.Go(func() { process.Stop(context.Background()) })
		}
	}
	stopping.Wait()
}

// Failed is closed when a component ends unexpectedly; Err returns how.
func (cp *ControlPlane) Failed() <-chan struct{} { return cp.failed }

// Err returns the first unexpected exit, an [*ExitError], or nil.
func (cp *ControlPlane) Err() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.err
}

func (cp *ControlPlane) process(name string) *Process {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.processes[name]
}

func (cp *ControlPlane) logf(format string, args ...any) {
	cp.logMu.Lock()
	defer cp.logMu.Unlock()
	// An error of the log must not stop the control plane.
	_, _ = fmt.Fprintf(cp.config.Log, format+"\n", args...)
}
