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

// stopGrace is how long a process may take to end after SIGTERM before it is killed.
const stopGrace = 15 * time.Second

// tailLines is the number of log lines in an ExitError.
const tailLines = 25

// ProcessConfig configures a [Process].
type ProcessConfig struct {
	// Name is the process's name in errors and log files. Required.
	Name string
	// Path is the program. Required.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// LogFile receives what the process prints, appended. Required.
	LogFile string
}

// Process is a running child process: a component, or a controller that a test puts in place of a
// built-in one.
//
// Its output goes to a file. It has its own process group, so Ctrl-C in a terminal reaches only the
// parent, which stops its children gracefully. On Linux the kernel kills it when the parent ends for
// any reason; elsewhere a killed parent leaves its children behind.
//
// One goroutine waits for the process and ends with it. The caller must call [Process.Stop] or
// [Process.Kill]. All methods are safe for concurrent use.
type Process struct {
	config ProcessConfig
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process is gone and err is set

	mu       sync.Mutex // guards the fields below
	expected bool       // the end was requested
	err      error      // how it ended; nil until then and for exit code 0
}

// ExitError reports a process that ended unexpectedly, with its last lines of output.
type ExitError struct {
	// Name is the process's name, such as "kube-apiserver".
	Name string
	// Err is how it ended, usually an *exec.ExitError; nil for exit code 0.
	Err error
	// LogFile is the file with its output, while the directory exists.
	LogFile string
	// Tail holds the last lines of LogFile.
	Tail string
}

// Error returns what ended and how, with the last lines of its log.
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
	defer log.Close() // the child has its own descriptor by then

	cmd := exec.Command(config.Path, config.Args...)
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

// run starts the process and waits for it on one operating system thread: Linux sends the parent
// death signal when the thread that started the child ends.
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

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process is gone.
func (p *Process) Done() <-chan struct{} { return p.ended }

// ExitCode returns the exit code, or -1 after a signal. It must be called after Done is closed.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Err returns nil while the process runs and after a requested end, and otherwise an [*ExitError].
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

// Signal sends a signal. An end from then on counts as requested.
func (p *Process) Signal(signal os.Signal) {
	select {
	case <-p.ended:
		return
	default:
	}
	p.mu.Lock()
	p.expected = true
	p.mu.Unlock()
	// The only error is that the process is gone.
	_ = p.cmd.Process.Signal(signal)
}

// Stop sends SIGTERM, and SIGKILL after 15 seconds or when ctx is done. It returns when the process
// is gone.
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

// Kill sends SIGKILL. It returns when the process is gone.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Tail returns the last lines of the process's output.
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
