package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process runs a child process for each server, in a session of its own, so that it outlives this
// program. It needs no rights.
//
// A file records each process by its PID and its start time, since PIDs are used again. The file is
// written before the process is started. A program that is killed in between leaves a file without
// a PID, and the next one finds the process by a variable in its environment.
//
// Usage is measured and not limited. A process that leaves the session of its server is no longer
// tracked.
type Process struct {
	dir     string
	command []string

	locks sync.Map // a *sync.Mutex for each name: one call at a time works on a server

	mu      sync.Mutex        // guards the field below
	samples map[string]sample // of running servers, for the share of the CPU
}

// sample is the CPU time that a server had used by a moment.
type sample struct {
	at   time.Time
	used time.Duration
}

// record is the content of the file of a server.
type record struct {
	Request CreateRequest
	Boot    string // the boot of this machine that PID and Start are of
	PID     int    // 0: it may have been started or not
	Start   uint64 // in clock ticks since the boot
}

// environmentKey is a variable in the environment of each process, with the file of its server.
const environmentKey = "ORRERY_SERVER"

// NewProcess returns a driver that runs a command, and remembers its processes in a directory,
// which it makes.
func NewProcess(dir string, command []string) (Interface, error) {
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, fmt.Errorf("the driver process needs the program %s, which is not installed", command[0])
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the state directory of the driver process: %w", err)
	}
	return &Process{dir: dir, command: command, samples: map[string]sample{}}, nil
}

// CreateServer implements [Interface].
func (d *Process) CreateServer(ctx context.Context, request CreateRequest) error {
	defer d.lock(request.Name)()
	if err := fits(request); err != nil {
		return err
	}
	known, err := d.find(request.Name)
	if err != nil || known.runs() {
		return err
	}
	if known != nil {
		if err := d.endAll(ctx, request.Name, known); err != nil {
			return err
		}
	}
	started := &record{Request: request, Boot: bootID()}
	if err := d.write(request.Name, started); err != nil {
		return err
	}
	command := exec.Command(d.command[0], d.command[1:]...)
	command.Env = append(os.Environ(), environmentKey+"="+d.file(request.Name))
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return err
	}
	go command.Wait() // a child without Wait stays a zombie
	started.PID = command.Process.Pid
	if stat, ok := readStat(started.PID); ok {
		started.Start = stat.start
	}
	return d.write(request.Name, started)
}

// fits refuses a server that is larger than this machine.
func fits(request CreateRequest) error {
	if cpus := int64(runtime.NumCPU()); request.CPU > cpus*1000 {
		return &RefusedError{Why: fmt.Sprintf("%g CPUs were asked for, and there are %d", float64(request.CPU)/1000, cpus)}
	}
	if memory := totalMemory(); memory > 0 && request.Memory > memory {
		return &RefusedError{Why: fmt.Sprintf("%d bytes of memory were asked for, and there are %d", request.Memory, memory)}
	}
	return nil
}

// DeleteServer implements [Interface].
func (d *Process) DeleteServer(ctx context.Context, name string) error {
	defer d.lock(name)()
	known, err := d.find(name)
	if err != nil || known == nil {
		return err
	}
	if err := d.endAll(ctx, name, known); err != nil {
		return err
	}
	if err := os.Remove(d.file(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// IsServerExist implements [Interface].
func (d *Process) IsServerExist(_ context.Context, name string) (bool, error) {
	defer d.lock(name)()
	known, err := d.find(name)
	return known.runs(), err
}

// GetServerStatus implements [Interface].
func (d *Process) GetServerStatus(_ context.Context, name string) (Status, error) {
	defer d.lock(name)()
	known, err := d.find(name)
	switch {
	case err != nil:
		return Status{}, err
	case known == nil:
		return notFound, nil
	case !known.runs():
		return Status{State: Ended, Reason: "its process has ended"}, nil
	}
	used := d.usage(known)
	now := sample{at: time.Now(), used: used.cpu}
	d.mu.Lock()
	before, sampled := d.samples[name]
	d.samples[name] = now
	d.mu.Unlock()
	status := Status{ID: fmt.Sprintf("pid-%d", known.PID), State: Running, MemoryPercentage: 100 * float64(used.memory) / float64(known.Request.Memory)}
	if passed := now.at.Sub(before.at); sampled && passed > 0 {
		status.CPUPercentage = 100 * max(0, (now.used-before.used).Seconds()) / passed.Seconds() / (float64(known.Request.CPU) / 1000)
	}
	return status, nil
}

func (d *Process) lock(name string) (unlock func()) {
	known, _ := d.locks.LoadOrStore(name, &sync.Mutex{})
	lock := known.(*sync.Mutex)
	lock.Lock()
	return lock.Unlock
}

// find returns the record of a server, nil if there is none. It also finds a process whose program
// was killed before it could write the PID.
func (d *Process) find(name string) (*record, error) {
	text, err := os.ReadFile(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	known := &record{}
	if err == nil {
		err = json.Unmarshal(text, known)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state of the server: %w", err)
	}
	if known.PID == 0 && known.Boot == bootID() {
		for pid := range processes() {
			if stat, ok := readStat(pid); ok && stat.session == pid && tagged(pid, d.file(name)) {
				known.PID, known.Start = pid, stat.start
				return known, d.write(name, known)
			}
		}
	}
	return known, nil
}

// runs reports whether the process is there.
func (r *record) runs() bool {
	if r == nil || r.PID == 0 || r.Boot != bootID() {
		return false
	}
	stat, ok := readStat(r.PID)
	return ok && stat.start == r.Start && stat.state != 'Z'
}

func (d *Process) file(name string) string { return filepath.Join(d.dir, name+".json") }

// write replaces the file of a server in one step.
func (d *Process) write(name string, r *record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	next := d.file(name) + ".new"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, d.file(name))
}

// gracePeriod is how long processes may take to end after SIGTERM.
const gracePeriod = 2 * time.Second

// endAll ends all processes of a server and returns when they have gone.
func (d *Process) endAll(ctx context.Context, name string, r *record) error {
	signal, began := syscall.SIGTERM, time.Now()
	for sent := syscall.Signal(0); ; {
		if time.Since(began) > gracePeriod {
			signal = syscall.SIGKILL
		}
		members := d.members(r)
		if len(members) == 0 {
			d.mu.Lock()
			delete(d.samples, name)
			d.mu.Unlock()
			return nil
		}
		if signal != sent || signal == syscall.SIGKILL {
			for pid := range members {
				syscall.Kill(pid, signal) // the error says that it has ended meanwhile
			}
			sent = signal
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
