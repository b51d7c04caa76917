package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end by itself after it was asked to; then it is killed.
const stopGrace = 15 * time.Second

// tailLines is how much of its log a process that died is quoted with.
const tailLines = 25

// ProcessConfig says what a [Process] runs.
type ProcessConfig struct {
	// Name is how errors and log files call the process. Required.
	Name string
	// Path is the program. Required.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is added to this process's environment, as "NAME=value".
	Env []string
	// LogFile receives what the process prints, appended. Required.
	LogFile string
}

// Process is a running child process. The control plane's own components are Processes, and so can be the controller
// that a test puts in place of a built-in one.
//
// Its standard output and error go to a file. It is in a process group of its own, so Ctrl-C in a terminal reaches only
// the parent, which then stops its children in order. On Linux the kernel kills it as soon as the parent is gone, for
// whatever reason; on other systems a parent that is killed outright leaves its children behind.
//
// # Goroutines
//
// One goroutine waits for the process to end. It ends with the process, so whoever starts a Process must see to its
// end with [Process.Stop] or [Process.Kill]. All methods may be called from any goroutine.
type Process struct {
	config ProcessConfig
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process is gone and err is set

	mu       sync.Mutex // guards the fields below
	expected bool       // somebody asked for the end
	err      error      // how it ended; nil until then and when it ended with exit code 0
}

// ExitError reports a process that ended without having been asked to, with the last lines that it printed.
type ExitError struct {
	// Name is the process's name, such as "kube-apiserver".
	Name string
	// Err is how it ended, usually an *exec.ExitError; nil for exit code 0.
	Err error
	// LogFile is where all of its output is, as long as the directory exists.
	LogFile string
	// Tail holds the last lines of LogFile.
	Tail string
}

// Error says what died and how, followed by the last lines of its log.
func (e *ExitError) Error() string {
	how := "exit status 0"
	if e.Err != nil {
		how = e.Err.Error()
	}
	return fmt.Sprintf("%s ended unexpectedly (%s); the end of %s:\n%s", e.Name, how, e.LogFile, e.Tail)
}

// Unwrap returns how the process ended.
func (e *ExitError) Unwrap() error { return e.Err }

// StartProcess starts a program.
func StartProcess(config ProcessConfig) (*Process, error) {
	log, err := os.OpenFile(config.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", config.Name, err)
	}
	defer log.Close() // the child has its own descriptor by the time this function returns

	cmd := exec.Command(config.Path, config.Args...)
	cmd.Env = append(os.Environ(), config.Env...)
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = childAttributes()

	p := &Process{config: config, cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", config.Name, err)
	}
	return p, nil
}

// run starts the process and waits for its end on one operating system thread: Linux delivers the parent death signal
// when the thread that started the child ends, not when the whole parent does, so that thread has to stay.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	err = p.cmd.Wait()
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	close(p.ended)
}

// Name is the name given in the configuration.
func (p *Process) Name() string { return p.config.Name }

// PID is the operating system's number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process is gone.
func (p *Process) Done() <-chan struct{} { return p.ended }

// ExitCode is what the process ended with: -1 when a signal ended it. Call it after Done is closed.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Err is nil while the process runs and after an end that was asked for. Otherwise it is an [*ExitError].
func (p *Process) Err() error {
	select {
	case <-p.ended:
	default:
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.expected {
		return nil
	}
	return &ExitError{Name: p.config.Name, Err: p.err, LogFile: p.config.LogFile, Tail: p.Tail()}
}

// Signal sends a signal. The end that it may cause counts as asked for; an end that came before does not.
func (p *Process) Signal(signal os.Signal) {
	select {
	case <-p.ended:
		return
	default:
	}
	p.mu.Lock()
	p.expected = true
	p.mu.Unlock()
	// The only error is that the process is gone already, and then there is nothing to signal.
	_ = p.cmd.Process.Signal(signal)
}

// Stop asks the process to end (SIGTERM), waits for it, and kills it when it has not ended after 15 seconds or when ctx
// is done. When it returns the process is gone.
func (p *Process) Stop(ctx context.Context) {
	p.Signal(syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.Kill()
	}
}

// Kill ends the process at once (SIGKILL). When it returns the process is gone.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Tail returns the last lines that the process printed.
func (p *Process) Tail() string {
	data, err := readEnd(p.config.LogFile, 64<<10)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return strings.Join(lines, "\n")
}

// readEnd reads at most the last limit bytes of a file.
func readEnd(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	offset := max(0, info.Size()-limit)
	var data bytes.Buffer
	if _, err := io.Copy(&data, io.NewSectionReader(file, offset, limit)); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}
