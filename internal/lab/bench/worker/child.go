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
	"time"
)

// grace is how long a worker that is told to stop may take before it is killed.
const grace = 3 * time.Second

// child is one process of the operating system. All but kill must be called by one goroutine at a time.
type child struct {
	started *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Reader

	mu   sync.Mutex // guards gone
	gone bool       // the process has been waited for: its number may belong to somebody else
}

func startChild(command Command) (*child, error) {
	started := exec.Command(command.Path, command.Args...)
	started.Env = append(os.Environ(), command.Env...)
	started.Stderr = command.Stderr
	apart(started)
	stdin, err := started.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := started.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := started.Start(); err != nil {
		return nil, err
	}
	return &child{started: started, stdin: stdin, answers: bufio.NewReader(stdout)}, nil
}

// ask sends a request and waits for its answer. The end of the context kills the child.
func (c *child) ask(ctx context.Context, asked request) (answer, error) {
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	line, err := json.Marshal(asked)
	if err != nil {
		return answer{}, err
	}
	// Killing the group closes its end of the pipe, which ends the wait for an answer.
	release := context.AfterFunc(ctx, c.kill)
	defer release()
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		return answer{}, lost(ctx, err)
	}
	text, err := c.answers.ReadBytes('\n')
	if err != nil {
		return answer{}, lost(ctx, err)
	}
	var reply answer
	if err := json.Unmarshal(text, &reply); err != nil {
		return answer{}, fmt.Errorf("not an answer: %w: %q", err, text)
	}
	return reply, nil
}

// lost says why there is no answer: because nobody waits for it any more, or because the worker is gone.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the worker is gone: %w", err)
}

// stop ends the child and what it has started, and returns when they are gone.
func (c *child) stop() {
	_ = c.stdin.Close()
	late := time.AfterFunc(grace, c.kill)
	_, _ = io.Copy(io.Discard, c.answers) // ends when the worker does
	late.Stop()
	c.kill() // what the worker has left behind in its group
	_ = c.started.Wait()
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
}

// kill kills the child and what it has started.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		killFamily(c.started.Process)
	}
}
