package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/worker"
)

// workerVariable makes the test binary a worker; its arguments are in argumentsVariable.
const (
	workerVariable    = "ORRERY_WORKER_TEST"
	argumentsVariable = "ORRERY_WORKER_TEST_ARGUMENTS"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		os.Exit(worker.Main(scenarios(), append(os.Args[:1], strings.Fields(os.Getenv(argumentsVariable))...)))
	}
	os.Exit(m.Run())
}

// scenarios are the scenarios of the tests' worker.
func scenarios() []bench.Scenario {
	runs := 0
	count := func(context.Context, bench.Effort, *bench.Meter) (bench.Outcome, error) {
		runs++
		return outcome(float64(runs)), nil
	}
	return []bench.Scenario{
		{Name: "warm", Run: count},
		{Name: "fresh", Fresh: true, Run: count},
		{Name: "effort", Run: func(_ context.Context, effort bench.Effort, _ *bench.Meter) (bench.Outcome, error) {
			return outcome(float64(effort.Of(1000, 10))), nil
		}},
		{Name: "fails", Run: func(context.Context, bench.Effort, *bench.Meter) (bench.Outcome, error) {
			return bench.Outcome{}, bench.Prove("keys processed", 10, 9)
		}},
		{Name: "nothing", Run: func(context.Context, bench.Effort, *bench.Meter) (bench.Outcome, error) {
			return outcome(math.NaN()), nil
		}},
		{Name: "dies", Run: func(context.Context, bench.Effort, *bench.Meter) (bench.Outcome, error) {
			os.Exit(7)
			return bench.Outcome{}, nil
		}},
		{Name: "hangs", Run: func(ctx context.Context, _ bench.Effort, _ *bench.Meter) (bench.Outcome, error) {
			<-ctx.Done()
			return bench.Outcome{}, ctx.Err()
		}},
		{Name: "deaf", Run: func(context.Context, bench.Effort, *bench.Meter) (bench.Outcome, error) {
			select {}
		}},
		{Name: "leaves a child", Run: leaveChild},
	}
}

// leaveChild starts a process that does not end by itself and returns its number.
func leaveChild(context.Context, bench.Effort, *bench.Meter) (bench.Outcome, error) {
	child := exec.Command("sleep", strconv.Itoa(int(time.Hour.Seconds())))
	if err := child.Start(); err != nil {
		return bench.Outcome{}, errors.Join(fmt.Errorf("starting a child"), err)
	}
	return outcome(float64(child.Process.Pid)), nil
}

func outcome(n float64) bench.Outcome {
	return bench.Outcome{Figures: map[string]float64{"n": n}, Proof: "counted"}
}

// alone runs the worker by hand.
func alone(t *testing.T, arguments string) (output string, err error) {
	t.Helper()
	command := ourselves(t)
	program := exec.Command(command.Path)
	program.Env = append(append(os.Environ(), command.Env...), argumentsVariable+"="+arguments)
	text, err := program.CombinedOutput()
	return string(text), err
}

func TestRunningAScenarioByHand(t *testing.T) {
	output, err := alone(t, "-effort quick -rounds 2 effort")
	require.NoError(t, err)
	once := "effort\n  n                    10\n  counted\n"
	assert.Equal(t, once+once, output)
}

func TestTheProfilesOfAScenario(t *testing.T) {
	cpu, mem := filepath.Join(t.TempDir(), "cpu"), filepath.Join(t.TempDir(), "mem")
	_, err := alone(t, "-cpuprofile "+cpu+" -memprofile "+mem+" warm")
	require.NoError(t, err)
	for _, path := range []string{cpu, mem} {
		profile, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "\x1f\x8b", string(profile[:2]), "profiles are compressed")
	}
}

func TestMessagesOfAWorkerByHand(t *testing.T) {
	output, err := alone(t, "-list")
	require.NoError(t, err)
	assert.Contains(t, output, "warm\nfresh\n")

	output, err = alone(t, "-help")
	require.NoError(t, err, "asking for help is no error")
	assert.Contains(t, output, "SCENARIO...")

	for arguments, want := range map[string]string{
		"fails":                         "Error: fails: the work was not done: keys processed: got 9, want 10\n",
		"-effort great warm":            `Error: invalid value "great" for flag -effort: there is no effort "great": choose full or quick` + "\n",
		"-cpuprofile /nowhere/cpu warm": "Error: open /nowhere/cpu: no such file or directory\n",
	} {
		output, err := alone(t, arguments)
		assert.Error(t, err)
		assert.Contains(t, output, want)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// zombie reports whether a process's stat has the zombie state, which follows the name in
// parentheses.
func zombie(stat string) bool {
	_, state, _ := strings.Cut(stat, ") ")
	return strings.HasPrefix(state, "Z")
}

// request returns a line that asks for a run.
func request(scenario, effort string) string {
	return fmt.Sprintf(`{"method":"Worker.Run","params":[{"Scenario":%q,"Effort":%q}],"id":1}`, scenario, effort) + "\n"
}

// serve starts a worker and sends it the lines.
func serve(t *testing.T, lines ...string) (hangUp func() (answers string, err error)) {
	t.Helper()
	in, requests := io.Pipe()
	served := make(chan error, 1)
	var out bytes.Buffer
	go func() { served <- worker.Serve(scenarios(), in, &out) }()
	for _, line := range lines {
		_, err := io.WriteString(requests, line)
		require.NoError(t, err)
		synctest.Wait()
	}
	return func() (string, error) {
		require.NoError(t, requests.Close())
		err := <-served
		return out.String(), err
	}
}

func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, err := serve(t, request("warm", "great"), request("warm", "quick"))()
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(answers), "\n")
		require.Len(t, lines, 2)
		assert.Contains(t, lines[0], `"error":"there is no effort \"great\"`)
		assert.Equal(t, `{"id":1,"result":{"figures":{"n":1},"proof":"counted"},"error":null}`, lines[1])
	})
}

func TestScenariosTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, err := serve(t, request("hangs", "full"), request("warm", "full"))()
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(answers, "counted"))
		assert.Less(t, strings.Index(answers, "context canceled"), strings.Index(answers, "counted"), "the second waits for the first")
	})
}

func TestTwoScenariosOfOneName(t *testing.T) {
	twice := []bench.Scenario{{Name: "one"}, {Name: "one"}}
	assert.EqualError(t, worker.Serve(twice, strings.NewReader(""), io.Discard), "two scenarios are called one")
}
