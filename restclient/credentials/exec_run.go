package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/term"
)

const (
	execInfoVariable = "KUBERNETES_EXEC_INFO"

	// maxExecOutput exceeds any token and certificate chain.
	maxExecOutput = 1 << 20

	// execWaitDelay is how long the pipes of a plugin may stay open after its end: a child may have
	// inherited them.
	execWaitDelay = 5 * time.Second
)

func (cfg *ExecConfig) check() error {
	switch {
	case cfg.Command == "":
		return cfg.fail("has no command: set exec.command", nil)
	case cfg.APIVersion == "":
		return cfg.fail("has no apiVersion: set exec.apiVersion to "+ExecV1, nil)
	case cfg.APIVersion != ExecV1 && cfg.APIVersion != ExecV1beta1:
		return cfg.fail(fmt.Sprintf("has the apiVersion %q, which is not supported: use a version of the plugin that speaks %s or %s",
			cfg.APIVersion, ExecV1, ExecV1beta1), nil)
	}
	for _, env := range cfg.Env {
		if env.Name == "" {
			return cfg.fail("has an environment variable without name: correct exec.env", nil)
		}
	}
	switch cfg.InteractiveMode {
	case InteractiveNever, InteractiveIfAvailable, InteractiveAlways:
		return nil
	default:
		return cfg.fail(fmt.Sprintf("has the interactiveMode %q: set exec.interactiveMode to %s, %s or %s",
			cfg.InteractiveMode, InteractiveNever, InteractiveIfAvailable, InteractiveAlways), nil)
	}
}

func (cfg *ExecConfig) fail(problem string, cause error) *ExecError {
	return &ExecError{Command: cfg.Command, Problem: problem, Err: cause}
}

// run runs the plugin once. The process is killed when ctx ends.
func (cfg *ExecConfig) run(ctx context.Context) (*execCredential, error) {
	interactive := cfg.InteractiveMode != InteractiveNever && term.IsTerminal(int(os.Stdin.Fd()))
	info, err := encodeExecRequest(cfg.APIVersion, cfg.Cluster, interactive)
	if err != nil {
		return nil, cfg.fail("has a cluster extension that is not valid JSON", err)
	}
	output := limitedBuffer{limit: maxExecOutput}
	cmd := exec.CommandContext(ctx, cfg.Command, cfg.Args...)
	cmd.Env = cfg.environment(info)
	cmd.Stdout, cmd.Stderr = &output, cmp.Or[io.Writer](cfg.Stderr, os.Stderr)
	if interactive {
		cmd.Stdin = os.Stdin
	}
	cmd.WaitDelay = execWaitDelay
	err = cmd.Run()
	if output.overflow {
		return nil, cfg.fail(fmt.Sprintf("printed more than %d bytes", maxExecOutput), err)
	}
	if err != nil {
		return nil, cfg.runError(ctx, err)
	}
	credential, problem := decodeExecAnswer(cfg.APIVersion, output.data)
	if problem != "" {
		return nil, cfg.fail(problem, nil)
	}
	return credential, nil
}

func (cfg *ExecConfig) environment(info string) []string {
	env := os.Environ()
	for _, v := range cfg.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	return append(env, execInfoVariable+"="+info)
}

func (cfg *ExecConfig) runError(ctx context.Context, err error) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return cfg.fail("was stopped because no request waits for it any more", ctx.Err())
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		missing := cfg.fail("was not found: install it or correct its path", err)
		missing.InstallHint = cfg.InstallHint
		return missing
	case errors.As(err, &exit):
		return cfg.fail(fmt.Sprintf("failed (%s): see what it wrote to standard error", exit.ProcessState), err)
	default:
		return cfg.fail("could not be run: "+plainCause(err).Error(), err)
	}
}

// limitedBuffer bounds the memory for a plugin's output.
type limitedBuffer struct {
	data     []byte
	limit    int
	overflow bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.limit {
		b.overflow = true
		return 0, io.ErrShortBuffer
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// ExecError reports that an exec plugin returned no credentials. Arguments, environment and output
// of the plugin may be secret and are never part of it.
type ExecError struct {
	Command     string
	Problem     string // a clause
	InstallHint string // of the configuration; only if the command was not found
	Err         error  // may be nil
}

func (e *ExecError) Error() string {
	text := fmt.Sprintf("exec plugin %q %s", e.Command, e.Problem)
	if e.InstallHint != "" {
		text += ": " + strconv.Quote(e.InstallHint)
	}
	return text
}

func (e *ExecError) Unwrap() error { return e.Err }
