package worker_test

import (
	"context"
	"errors"
	"net/rpc"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/worker"
)

// ourselves is the command of the tests' worker.
func ourselves(t *testing.T) worker.Command {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return worker.Command{Side: "ours", Path: path, Env: []string{workerVariable + "=1"}}
}

func start(t *testing.T) *worker.Process {
	t.Helper()
	process, err := worker.Start(t.Context(), ourselves(t))
	require.NoError(t, err)
	t.Cleanup(process.Stop)
	return process
}

func n(t *testing.T, process *worker.Process, scenario string) float64 {
	t.Helper()
	got, err := process.Run(t.Context(), scenario, bench.Full)
	require.NoError(t, err)
	assert.Equal(t, "counted", got.Proof)
	return got.Figures["n"]
}

func TestAProcessStaysWarm(t *testing.T) {
	process := start(t)
	assert.Equal(t, 1.0, n(t, process, "warm"))
	assert.Equal(t, 2.0, n(t, process, "warm"))
}

func TestAFreshScenarioIsTheFirstInItsProcess(t *testing.T) {
	process := start(t)
	assert.Equal(t, 1.0, n(t, process, "warm"))
	assert.Equal(t, 1.0, n(t, process, "fresh"))
	assert.Equal(t, 1.0, n(t, process, "fresh"))
	assert.Equal(t, 2.0, n(t, process, "warm"), "the warm process is still there")
}

func TestTheEffortIsPassedOn(t *testing.T) {
	process := start(t)
	got, err := process.Run(t.Context(), "effort", bench.Quick)
	require.NoError(t, err)
	assert.Equal(t, 10.0, got.Figures["n"])
	assert.Equal(t, 1000.0, n(t, process, "effort"))
}

func TestErrorsNameSideAndScenario(t *testing.T) {
	process := start(t)
	for scenario, want := range map[string]string{
		"fails":   "fails on ours: the work was not done: keys processed: got 9, want 10",
		"missing": `missing on ours: there is no scenario "missing" here`,
		"nothing": "nothing on ours: n is NaN",
	} {
		_, err := process.Run(t.Context(), scenario, bench.Full)
		assert.EqualError(t, err, want)
		assert.ErrorAs(t, err, new(rpc.ServerError), "the worker reported it")
	}
	assert.Equal(t, 1.0, n(t, process, "warm"), "the next scenario has a new process")
}

func TestAWorkerThatDiesIsReplaced(t *testing.T) {
	process := start(t)
	_, err := process.Run(t.Context(), "dies", bench.Full)
	assert.ErrorContains(t, err, "dies on ours: the worker process has ended")
	assert.NotErrorAs(t, err, new(rpc.ServerError))
	assert.Equal(t, 1.0, n(t, process, "warm"))
}

func TestAMissingProgram(t *testing.T) {
	_, err := worker.Start(t.Context(), worker.Command{Side: "theirs", Path: "/nowhere/worker"})
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "theirs: ")
}

func TestTheEndOfTheContextKillsTheWorker(t *testing.T) {
	for _, scenario := range []string{"hangs", "deaf"} {
		process := start(t)
		reason := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancelled := make(chan struct{})
		go func() {
			defer close(cancelled)
			cancel(reason)
		}()
		_, err := process.Run(ctx, scenario, bench.Full)
		<-cancelled
		assert.ErrorIs(t, err, reason)
		_, err = process.Run(ctx, scenario, bench.Full)
		assert.ErrorIs(t, err, reason, "a context that has ended before the request reports its cause as well")
	}
}

// A worker's children end with it, even if the worker does not stop them.
func TestStopEndsChildProcesses(t *testing.T) {
	process := start(t)
	child := int(n(t, process, "leaves a child"))
	require.NoError(t, syscall.Kill(child, 0), "it is there")
	process.Stop()
	process.Stop() // again: no effect
	assert.Eventually(t, func() bool { return gone(child) }, 3*time.Minute, 5*time.Millisecond)
}

// A worker ends when its input does, however its parent died.
func TestAWorkerEndsWithItsInput(t *testing.T) {
	command := ourselves(t)
	for _, asked := range []string{"", request("hangs", "full")} {
		program := exec.Command(command.Path)
		program.Env = append(os.Environ(), command.Env...)
		input, err := program.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, program.Start())
		_, err = input.Write([]byte(asked))
		require.NoError(t, err)
		require.NoError(t, input.Close())
		assert.NoError(t, program.Wait(), "it ends by itself")
	}
}

// gone reports whether a process has ended, even if it is still a zombie.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	status, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	return err != nil || zombie(string(status))
}
