package worker

import (
	"context"
	"errors"
	"fmt"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"sync"
	"time"
)

// stopTimeout is how long a worker may take to stop before it is killed.
const stopTimeout = 3 * time.Second

// child is one process of the operating system.
type child struct {
	process *exec.Cmd
	calls   *rpc.Client
	kill    context.CancelFunc // kills the child and its children; no effect after stop
	ended   chan struct{}      // closed when the output has ended: the child is gone and can be waited for
}

func startChild(command Command) (*child, error) {
	ctx, kill := context.WithCancel(context.Background())
	c := &child{process: exec.CommandContext(ctx, command.Path, command.Args...), kill: kill, ended: make(chan struct{})}
	c.process.Env = append(os.Environ(), command.Env...)
	c.process.Stderr = command.Stderr
	c.process.Cancel = func() error { return killGroup(c.process.Process) }
	setGroup(c.process)
	stdin, err := c.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		kill()
		return nil, err
	}
	ended := sync.OnceFunc(func() { close(c.ended) })
	c.calls = jsonrpc.NewClient(pipes{input{stdout, ended}, stdin, stdin})
	return c, nil
}

// ask calls a method of the worker's service and waits for the reply. The end of the context kills
// the child.
func (c *child) ask(ctx context.Context, method string, asked, answer any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call := c.calls.Go(serviceName+"."+method, asked, answer, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
	case <-ctx.Done():
		c.kill()
		return context.Cause(ctx)
	}
	if _, refused := errors.AsType[rpc.ServerError](call.Error); call.Error == nil || refused {
		return call.Error
	}
	return fmt.Errorf("the worker process has ended: %w", call.Error)
}

// stop ends the child and its children, and waits for them.
func (c *child) stop() {
	_ = c.calls.Close() // which closes the child's input
	late := time.AfterFunc(stopTimeout, c.kill)
	<-c.ended
	late.Stop()
	_ = killGroup(c.process.Process) // the children the worker has left in its process group
	_ = c.process.Wait()
	c.kill()
}
