package compare_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/worker"
	"orrery/upstream/bench/compare"
)

// sideVariable makes the test binary the worker of a side.
const sideVariable = "ORRERY_COMPARE_TEST_SIDE"

func TestMain(m *testing.M) {
	if side := os.Getenv(sideVariable); side != "" {
		os.Exit(worker.Main([]bench.Scenario{{Name: "who", Run: func(context.Context, bench.Effort, *bench.Meter) (bench.Outcome, error) {
			return bench.Outcome{Proof: side}, nil
		}}}, os.Args[:1]))
	}
	os.Exit(m.Run())
}

func TestEachSideHasAProcess(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	commands := make(map[compare.Side]worker.Command)
	for _, side := range []compare.Side{compare.Ours, compare.Theirs} {
		commands[side] = worker.Command{Side: string(side), Path: self, Env: []string{sideVariable + "=" + string(side)}}
	}
	commands[compare.Priority] = worker.Command{Side: "missing", Path: "/nowhere/worker"}
	workers := compare.NewWorkers(commands)
	t.Cleanup(workers.Stop)
	for range 2 {
		for _, side := range []compare.Side{compare.Ours, compare.Theirs} {
			outcome, err := workers.Run(t.Context(), side, "who", bench.Quick)
			require.NoError(t, err)
			assert.Equal(t, string(side), outcome.Proof)
		}
		workers.Stop() // the next Run restarts them
	}
	_, err = workers.Run(t.Context(), compare.Theirs, "what", bench.Full)
	assert.EqualError(t, err, `what on client-go: there is no scenario "what" here`)
	_, err = workers.Run(t.Context(), compare.Priority, "who", bench.Full)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = workers.Run(t.Context(), compare.RealFIFO, "who", bench.Full)
	assert.EqualError(t, err, "there is no worker for client-go's RealFIFO")
}

func TestTheMachine(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	m := compare.ThisMachine(self, "/nowhere/program")
	assert.Positive(t, m.Cores)
	assert.Contains(t, m.System, "/")
	assert.NotEmpty(t, m.Go)
	host, err := os.Hostname()
	require.NoError(t, err)
	assert.NotContains(t, []string{m.Processor, m.System}, host, "the description must not name the machine")
}
