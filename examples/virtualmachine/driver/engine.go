package driver

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Engine makes containers with an engine that has the command line of Docker: docker itself, or
// podman, which needs no daemon.
//
// The driver knows its containers by a label, and leaves alone a foreign container with the same
// name. It passes the engine's error messages on and never parses them. If an engine finishes the
// creation of a container after its command line was killed and the server was deleted, that
// container is leaked; only an engine with transactions could prevent this.
type Engine struct{ program, image string }

// labelKey is the label of a container; its value is the name of the server.
const labelKey = "cloudnative.tw/virtualmachine"

// NewEngine returns a driver that runs an image with an engine, "docker" or "podman". Ping reports
// whether the engine is installed and answers.
func NewEngine(program, image string) *Engine { return &Engine{program: program, image: image} }

// Ping implements [Interface].
func (e *Engine) Ping(ctx context.Context) error {
	_, err := e.run(ctx, "version") // fails without the daemon, if the engine needs one
	return err
}

// container is the state of a container.
type container struct {
	id, state string
	exitCode  string
	outOfMem  bool
	cpus      float64
}

func (c *container) runs() bool {
	return c != nil && (c.state == "running" || c.state == "paused" || c.state == "restarting")
}

// CreateServer implements [Interface].
func (e *Engine) CreateServer(ctx context.Context, request CreateRequest) error {
	found, err := e.find(ctx, request.Name)
	if err != nil || found.runs() {
		return err
	}
	if found != nil { // it has ended, or was created and never started
		if err := e.remove(ctx, found); err != nil {
			return err
		}
	}
	_, err = e.run(ctx, "run", "--detach", "--name", request.Name, "--label", labelKey+"="+request.Name,
		"--cpus", strconv.FormatFloat(float64(request.CPU)/1000, 'f', 3, 64), "--memory", strconv.FormatInt(request.Memory, 10)+"b", e.image)
	return err
}

// DeleteServer implements [Interface].
func (e *Engine) DeleteServer(ctx context.Context, name string) error {
	found, err := e.find(ctx, name)
	if err != nil || found == nil {
		return err
	}
	return e.remove(ctx, found)
}

// IsServerExist implements [Interface].
func (e *Engine) IsServerExist(ctx context.Context, name string) (bool, error) {
	found, err := e.find(ctx, name)
	return found.runs(), err
}

// GetServerStatus implements [Interface].
func (e *Engine) GetServerStatus(ctx context.Context, name string) (Status, error) {
	found, err := e.find(ctx, name)
	switch {
	case err != nil:
		return Status{}, err
	case found == nil:
		return notFound, nil
	case !found.runs() && found.outOfMem:
		return Status{ID: found.id, State: Ended, Reason: "out of memory"}, nil
	case !found.runs():
		return Status{ID: found.id, State: Ended, Reason: found.state + ", exit code " + found.exitCode}, nil
	}
	used, err := e.run(ctx, "stats", "--no-stream", "--format", "{{.CPUPerc}} {{.MemPerc}}", found.id)
	if err != nil {
		return Status{}, err
	}
	status := Status{ID: found.id, State: Running}
	if _, err := fmt.Sscanf(strings.ReplaceAll(used, "%", ""), "%g %g", &status.CPUPercentage, &status.MemoryPercentage); err != nil {
		return Status{}, fmt.Errorf("%s stats printed %q: %w", e.program, used, err)
	}
	status.CPUPercentage /= found.cpus // an engine counts 100 for each CPU
	return status, nil
}

// find returns the container of a server, nil if there is none.
func (e *Engine) find(ctx context.Context, name string) (*container, error) {
	id, err := e.run(ctx, "ps", "--all", "--no-trunc", "--filter", "label="+labelKey+"="+name, "--format", "{{.ID}}")
	if err != nil || id == "" {
		return nil, err
	}
	c := &container{id: id}
	text, err := e.run(ctx, "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.HostConfig.NanoCpus}}", id)
	if err != nil {
		return nil, err
	}
	var nano float64
	if _, err := fmt.Sscan(text, &c.state, &c.exitCode, &c.outOfMem, &nano); err != nil {
		return nil, fmt.Errorf("%s inspect printed %q: %w", e.program, text, err)
	}
	c.cpus = max(nano/1e9, 0.001)
	return c, nil
}

func (e *Engine) remove(ctx context.Context, c *container) error {
	_, err := e.run(ctx, "rm", "--force", "--volumes", c.id)
	return err
}

// run calls the engine and returns its output. The error has the first line of its stderr.
func (e *Engine) run(ctx context.Context, arguments ...string) (string, error) {
	if err := installed(e.program, e.program); err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, e.program, arguments...)
	command.WaitDelay = time.Second // for pipes that a child of the engine holds open
	var printed, problem bytes.Buffer
	command.Stdout, command.Stderr = &printed, &problem
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		why, _, _ := strings.Cut(strings.TrimSpace(problem.String()), "\n")
		if why == "" {
			return "", fmt.Errorf("%s %s: %w", e.program, arguments[0], err)
		}
		return "", fmt.Errorf("%s %s: %s (%w)", e.program, arguments[0], why, err)
	}
	return strings.TrimSpace(printed.String()), nil
}
