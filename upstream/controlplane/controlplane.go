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

// startTimeout bounds each wait for a component to become ready, for callers whose context has no deadline. A component that
// dies ends the wait at once; this is for one that hangs, and not for a machine that starts a dozen control planes at once.
const startTimeout = 10 * time.Minute

// ControlPlane is a running Kubernetes control plane; see the package documentation. Its methods may be called from any
// goroutine, except that those which start, restart or end components must not overlap each other.
type ControlPlane struct {
	config    Config
	dir       string
	ephemeral bool // Stop removes dir
	ports     componentPorts
	cluster   *authority // signs client certificates
	api       *endpoint
	etcd      *endpoint

	observers sync.WaitGroup
	failed    chan struct{} // closed when err is set

	mu        sync.Mutex // guards the fields below
	processes map[string]*Process
	users     int   // kubeconfig files written for users
	err       error // the first unexpected end of a component

	logMu sync.Mutex // held while writing to config.Log
}

// Start starts a control plane and returns when it is ready for use: the API server answers /readyz, the default
// namespace has its service account (when the controllers for that run), and the fake nodes are ready.
//
// The context bounds the start only; to end the control plane call Stop. When Start fails it has stopped everything,
// and the error is an [*ExitError] when a component died, with the end of its log.
//
// kube-apiserver gives up when its own start takes too long (the bootstrap of roles has half a minute). A kubelet would start it
// again; so does Start, with everything anew, unless the directory is the caller's. No more than two start at a time in one process.
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
		if !gaveUp(err) || config.Dir != "" || try == mostTries {
			return nil, err
		}
		cp.logf("%s gave up, starting everything anew", APIServer)
	}
}

// startOnce returns a control plane that is stopped if there is an error.
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

// makeDir creates the directory with its subdirectories, and refuses one that holds anything: half of an older control
// plane would be used with the new certificates.
func (cp *ControlPlane) makeDir() error {
	if cp.config.Dir == "" {
		dir, err := os.MkdirTemp("", "orrery-controlplane-")
		if err != nil {
			return err
		}
		cp.dir, cp.ephemeral = dir, true
	} else {
		dir, err := filepath.Abs(cp.config.Dir)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("directory %s is not empty", dir)
		}
		cp.dir = dir
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

// StartAPIServer starts kube-apiserver after [ControlPlane.KillAPIServer], on the same port and with the same
// arguments, and returns when it is ready. It fails when the server is running.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	if _, err := cp.launch(APIServer, cp.apiServerArgs()); err != nil {
		return err
	}
	return cp.await(ctx, APIServer, func(ctx context.Context) error {
		return cp.api.get(ctx, "/readyz", nil)
	})
}

// startClients starts the components that are clients of the API server, all at once, and waits for what they do.
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

// launch starts a component and an observer of its end.
func (cp *ControlPlane) launch(name string, args []string) (*Process, error) {
	if running := cp.process(name); running != nil {
		select {
		case <-running.Done():
		default:
			return nil, fmt.Errorf("start %s: it is running already", name)
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

// observe waits for the end of a process and records it when nobody asked for it.
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

// RestartAPIServer stops kube-apiserver in the orderly way (open watches end) and starts it again on the same port. Its
// watch cache is empty then, so a watch that resumes from before the restart is told that its version is too old.
func (cp *ControlPlane) RestartAPIServer(ctx context.Context) error {
	cp.process(APIServer).Stop(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("restart %s: %w", APIServer, err)
	}
	cp.logf("%s stopped", APIServer)
	return cp.StartAPIServer(ctx)
}

// KillAPIServer ends kube-apiserver at once, as a crash would: connections break off. Everything else keeps running.
func (cp *ControlPlane) KillAPIServer() {
	cp.process(APIServer).Kill()
	cp.logf("%s killed", APIServer)
}

// KillControllerManager ends kube-controller-manager at once, as a crash would.
func (cp *ControlPlane) KillControllerManager() {
	cp.process(ControllerManager).Kill()
	cp.logf("%s killed", ControllerManager)
}

// StartControllerManager starts kube-controller-manager after [ControlPlane.KillControllerManager], and returns when its
// controllers work. It fails when it is running.
func (cp *ControlPlane) StartControllerManager(ctx context.Context) error {
	if _, err := cp.launch(ControllerManager, cp.controllerManagerArgs()); err != nil {
		return err
	}
	return cp.await(ctx, ControllerManager, cp.controllersReady)
}

// Stop ends all components, clients of the API server first and etcd last, and removes the directory unless the caller
// chose it. When it returns no process and no goroutine of the control plane is left. It returns what Err returns, so
// that a test that stops its control plane learns of a component that died in the middle. Stopping twice is harmless.
func (cp *ControlPlane) Stop() error {
	cp.stopAll(ControllerManager, Scheduler, Kwok)
	cp.stopAll(APIServer)
	cp.stopAll(Etcd)
	cp.observers.Wait()
	cp.ports.release()
	err := cp.Err()
	if cp.ephemeral {
		err = errors.Join(err, os.RemoveAll(cp.dir))
	}
	return err
}

// stopAll stops components at the same time, and ignores those that were never started.
func (cp *ControlPlane) stopAll(names ...string) {
	var stopping sync.WaitGroup
	for _, name := range names {
		if process := cp.process(name); process != nil {
			stopping.Go(func() { process.Stop(context.Background()) })
		}
	}
	stopping.Wait()
}

// Failed is closed when a component ends without having been asked to; Err tells which.
func (cp *ControlPlane) Failed() <-chan struct{} { return cp.failed }

// Err is the first unexpected end of a component, an [*ExitError], or nil.
func (cp *ControlPlane) Err() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.err
}

// PIDs returns the process number of each component that is running.
func (cp *ControlPlane) PIDs() map[string]int {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	pids := make(map[string]int, len(cp.processes))
	for name, process := range cp.processes {
		select {
		case <-process.Done():
		default:
			pids[name] = process.PID()
		}
	}
	return pids
}

func (cp *ControlPlane) process(name string) *Process {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.processes[name]
}

func (cp *ControlPlane) logf(format string, args ...any) {
	cp.logMu.Lock()
	defer cp.logMu.Unlock()
	// A log that cannot be written must not break what it reports on.
	_, _ = fmt.Fprintf(cp.config.Log, format+"\n", args...)
}
