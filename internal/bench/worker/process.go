package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"orrery/internal/bench"
)

// grace is how long a worker that is told to stop may take before it is killed.
const grace = 3 * time.Second

// Command says how to start a worker.
type Command struct {
	// Side is what errors call the worker: "ours".
	Side string
	// Path is the program, Args are its arguments.
	Path string
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Stderr is where the worker's complaints go. Nil discards them.
	Stderr io.Writer
}

// Process is a worker that is running. Its methods must not be called at the same time. Whoever starts it calls Stop.
type Process struct {
	command Command
	started *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Reader

	mu   sync.Mutex // guards gone
	gone bool       // the process has been waited for: its number may belong to somebody else
}

// Start starts a worker, which waits for requests.
func Start(command Command) (*Process, error) {
	started := exec.Command(command.Path, command.Args...)
	started.Env = append(os.Environ(), command.Env...)
	started.Stderr = command.Stderr
	// A group of its own: Ctrl-C reaches whoever compares, which then stops its workers in order, and what a worker has
	// started can be killed with it.
	started.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := started.StdinPipe()
	if err != nil {
		return nil, &Error{Side: command.Side, Err: err}
	}
	stdout, err := started.StdoutPipe()
	if err != nil {
		return nil, &Error{Side: command.Side, Err: err}
	}
	if err := started.Start(); err != nil {
		return nil, &Error{Side: command.Side, Err: err}
	}
	return &Process{command: command, started: started, stdin: stdin, answers: bufio.NewReader(stdout)}, nil
}

// Run lets the worker do a scenario and waits for its outcome. Errors are [*Error]. A process whose Run was cut off by
// the context, or that died, can only be stopped.
func (p *Process) Run(ctx context.Context, scenario string, effort bench.Effort) (bench.Outcome, error) {
	outcome, err := p.ask(ctx, request{Scenario: scenario, Effort: effort.String()})
	if err != nil {
		return bench.Outcome{}, &Error{Side: p.command.Side, Scenario: scenario, Err: err}
	}
	return outcome, nil
}

func (p *Process) ask(ctx context.Context, asked request) (bench.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return bench.Outcome{}, err
	}
	line, err := json.Marshal(asked)
	if err != nil {
		return bench.Outcome{}, err
	}
	// Killing the group closes its end of the pipe, which ends the wait for an answer.
	release := context.AfterFunc(ctx, p.kill)
	defer release()
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		return bench.Outcome{}, p.lost(ctx, err)
	}
	text, err := p.answers.ReadBytes('\n')
	if err != nil {
		return bench.Outcome{}, p.lost(ctx, err)
	}
	var reply answer
	if err := json.Unmarshal(text, &reply); err != nil {
		return bench.Outcome{}, fmt.Errorf("not an answer: %w: %q", err, text)
	}
	if reply.Outcome == nil {
		return bench.Outcome{}, &Refusal{Text: reply.Error}
	}
	return *reply.Outcome, nil
}

// lost says why there is no answer: because nobody waits for it any more, or because the worker is gone.
func (p *Process) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the worker is gone: %w", err)
}

// Stop ends the worker and what it has started, and returns when they are gone. It may be called more than once.
func (p *Process) Stop() {
	if p.isGone() {
		return
	}
	_ = p.stdin.Close()
	late := time.AfterFunc(grace, p.kill)
	_, _ = io.Copy(io.Discard, p.answers) // ends when the worker does
	late.Stop()
	p.kill() // what the worker has left behind in its group
	_ = p.started.Wait()
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
}

func (p *Process) isGone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// kill kills the worker's process group.
func (p *Process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		_ = syscall.Kill(-p.started.Process.Pid, syscall.SIGKILL) // gone already is as good
	}
}
