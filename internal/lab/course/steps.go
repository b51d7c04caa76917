package course

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/bench"
)

// defaultLimit is how long a step may take. Steps run in virtual time; a longer one hangs.
const defaultLimit = 10 * time.Second

// outputLimit is how much output of a step is kept: its beginning.
const outputLimit = 4 << 20

// Result is the end of one step.
type Result struct {
	Step   string
	Passed bool
	// Output is what the tests printed, with -test.v.
	Output string
	// Killed reports that the process did not end by itself.
	Killed bool
	// Hungry reports that it was killed because it used too much memory.
	Hungry bool
	// Limit is how long it was allowed to take.
	Limit time.Duration
}

// TestBinary is a binary of tests that was built.
type TestBinary struct {
	Binary string
	// Dir is the folder where the tests run: that of the package.
	Dir string
	// LimitFactor multiplies the limits of all steps; 0 means 1.
	LimitFactor int
	// Memory is how many bytes a step may use; 0 means 3 GiB.
	Memory uint64
}

// Run runs one step, without the tests of the steps before it, which have passed. If they have run
// all of them, it runs them again.
func (t TestBinary) Run(ctx context.Context, step Step, before []Step) (Result, error) {
	limit := cmp.Or(step.Limit, defaultLimit) * time.Duration(max(1, t.LimitFactor))
	ctx, cancel := context.WithTimeout(ctx, limit+5*time.Second)
	defer cancel()
	arguments := []string{"-test.v", "-test.paniconexit0", "-test.run", step.Run, "-test.timeout", limit.String()}
	if len(before) > 0 {
		var passed []string
		for _, step := range before {
			passed = append(passed, step.Run)
		}
		arguments = append(arguments, "-test.skip", strings.Join(passed, "|"))
	}
	command := t.command(ctx, slices.Concat(arguments, step.Flags, t.rapid(ctx))...)
	command.WaitDelay = time.Second
	out := &head{}
	command.Stdout, command.Stderr = out, out
	hungry, err := t.run(command)
	result := Result{Step: step.Name, Passed: err == nil, Output: out.text.String(), Hungry: hungry, Limit: limit}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed && ctx.Err() == nil {
		return result, err
	}
	if ctx.Err() != nil {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return result, ctx.Err()
		}
		result.Killed = true
	}
	if strings.Contains(result.Output, "testing: warning: no tests to run") {
		if len(before) > 0 {
			return t.Run(ctx, step, nil)
		}
		return result, errors.New("step " + step.Name + ": no test has the name " + step.Run)
	}
	return result, nil
}

// run runs a command. It is killed when it uses more memory than the limit: a loop that appends
// without end would otherwise stop the learner's machine before the time limit.
func (t TestBinary) run(command *exec.Cmd) (hungry bool, err error) {
	if err := command.Start(); err != nil {
		return false, err
	}
	ended := make(chan error)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			return hungry, err
		case <-time.After(100 * time.Millisecond):
		}
		if resident, _ := bench.ResidentMemoryOf(command.Process.Pid); resident > cmp.Or(t.Memory, memoryLimit) {
			hungry = true
			command.Process.Kill()
		}
	}
}

// command calls the binary. By default, the race detector would keep each process for a second
// after its end, for the reports of other goroutines.
func (t TestBinary) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, t.Binary, arguments...)
	command.Dir = t.Dir
	if os.Getenv("GORACE") == "" {
		command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10")
	}
	return command
}

// rapid returns flags for property tests, if the binary has some: the same seed each time, little
// time to shrink a failure, and no file in the repository.
func (t TestBinary) rapid(ctx context.Context) []string {
	help, _ := t.command(ctx, "-help").CombinedOutput()
	if !bytes.Contains(help, []byte("-rapid.nofailfile")) {
		return nil
	}
	return []string{"-rapid.nofailfile", "-rapid.seed=1", "-rapid.shrinktime=2s"}
}

// head keeps the beginning of what is written.
type head struct{ text bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.text.Write(p[:min(len(p), outputLimit-h.text.Len())])
	return len(p), nil
}

// memoryLimit is how much memory a step may use.
const memoryLimit = 3 << 30
