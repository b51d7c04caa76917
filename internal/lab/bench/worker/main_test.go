package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

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
