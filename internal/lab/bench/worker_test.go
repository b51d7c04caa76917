package bench_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/workloads"
)

// workerVariable makes the test binary a worker.
const workerVariable = "ORRERY_WORKER_TEST"

func TestMain(m *testing.M) {
	workloads.ServeIfAsked()
	if os.Getenv(workerVariable) != "" {
		forms := map[string][]bench.Scenario{"": scenarios(), "short": scenarios()[1:2]}
		os.Exit(bench.WorkerMain(forms, os.Args))
	}
	os.Exit(m.Run())
}

// scenarios are the scenarios of the tests' worker.
func scenarios() []bench.Scenario {
	runs := 0
	return []bench.Scenario{
		{Name: "count", Run: func(_ context.Context, effort bench.Effort) (bench.Outcome, error) {
			runs++
			return outcome(float64(effort.Of(1000, 10) + runs)), nil
		}},
		{Name: "fails", Run: func(context.Context, bench.Effort) (bench.Outcome, error) {
			return bench.Outcome{}, bench.Prove("keys processed", 10, 9)
		}},
		{Name: "nothing", Run: func(context.Context, bench.Effort) (bench.Outcome, error) {
			return outcome(math.NaN()), nil
		}},
		{Name: "dies", Run: func(context.Context, bench.Effort) (bench.Outcome, error) {
			os.Exit(7)
			return bench.Outcome{}, nil
		}},
		{Name: "hangs", Run: func(context.Context, bench.Effort) (bench.Outcome, error) { select {} }},
	}
}

func outcome(n float64) bench.Outcome {
	return bench.Outcome{Figures: map[string]float64{"n": n}, Proof: "counted"}
}

// ourselves is the command of the tests' worker.
func ourselves(t *testing.T) bench.Worker {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(workerVariable, "1")
	return bench.Worker{Side: "ours", Path: path}
}

// alone runs the worker by hand.
func alone(t *testing.T, arguments string) (output string, err error) {
	t.Helper()
	text, err := exec.Command(ourselves(t).Path, strings.Fields(arguments)...).CombinedOutput()
	return string(text), err
}

func TestEachRunHasAProcessOfItsOwn(t *testing.T) {
	for effort, want := range map[bench.Effort]float64{bench.Full: 1001, bench.Quick: 11} {
		for range 2 {
			got, err := ourselves(t).Run(t.Context(), "count", effort)
			require.NoError(t, err)
			assert.Equal(t, outcome(want), got)
		}
	}
}

func TestErrorsNameSideAndScenario(t *testing.T) {
	for scenario, want := range map[string]string{
		"fails":   "fails on ours: exit status 1: Error: the work was not done: keys processed: got 9, want 10",
		"missing": `missing on ours: exit status 1: Error: there is no scenario "missing" here`,
		"nothing": "nothing on ours: exit status 1: Error: n is NaN",
		"dies":    "dies on ours: exit status 7: ",
	} {
		_, err := ourselves(t).Run(t.Context(), scenario, bench.Full)
		assert.EqualError(t, err, want)
	}
	missing := bench.Worker{Side: "theirs", Path: "/nowhere/worker"}
	_, err := missing.Run(t.Context(), "count", bench.Full)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestTheEndOfTheContextKillsTheWorker(t *testing.T) {
	reason := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(reason)
	_, err := ourselves(t).Run(ctx, "hangs", bench.Full)
	assert.ErrorIs(t, err, reason)
}

func TestAWorkerByHand(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "cpu")
	for arguments, want := range map[string]string{
		"-list":       "count\nfails\nnothing\ndies\nhangs\n",
		"short -list": "fails\n",
		"-help":       "SCENARIO...",

		"-quick -rounds 2 -cpuprofile " + profile + " count": `"n": 12`,
	} {
		output, err := alone(t, arguments)
		require.NoError(t, err)
		assert.Contains(t, output, want)
	}
	written, err := os.ReadFile(profile)
	require.NoError(t, err)
	assert.Equal(t, "\x1f\x8b", string(written[:2]), "profiles are compressed")

	for arguments, want := range map[string]string{
		"fails":                          "Error: the work was not done: keys processed: got 9, want 10\n",
		"-rouns 2 count":                 "Error: flag provided but not defined: -rouns\n",
		"-cpuprofile /nowhere/cpu count": "Error: open /nowhere/cpu: no such file or directory\n",
	} {
		output, err := alone(t, arguments)
		assert.Error(t, err)
		assert.Contains(t, output, want)
	}
}
