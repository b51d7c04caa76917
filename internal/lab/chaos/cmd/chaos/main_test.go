package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/chaos"
)

// The program starts itself as a worker, so in the tests this program is one: of a kind that fails when it is told to.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-worker") {
		pretend()
		return
	}
	os.Exit(m.Run())
}

const (
	goodSeed, wrongSeed, deadlySeed = 1, 2, 3
)

func pretend() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		report := chaos.Report{Writes: 10, Faults: map[string]int{"cut": 2}, SlowestCalm: time.Minute, Virtual: time.Hour}
		fmt.Sscan(lines.Text(), &report.Seed)
		switch report.Seed {
		case wrongSeed:
			report.Failure = &chaos.Failure{When: "at the end", Differences: []string{"a deletion was lost"}}
		case deadlySeed:
			fmt.Fprintln(os.Stderr, "panic: a goroutine cannot be ended")
			os.Exit(2)
		}
		json.NewEncoder(os.Stdout).Encode(report)
	}
}

func played(t *testing.T, o options) (bool, string) {
	t.Helper()
	var out bytes.Buffer
	o.failures, o.duration, o.workers = t.TempDir(), time.Minute, 1
	passed := run(t.Context(), o, &out)
	return passed, out.String()
}

func TestSeedsThatPass(t *testing.T) {
	passed, said := played(t, options{seed: goodSeed, seeds: 1})
	assert.True(t, passed)
	assert.Contains(t, said, "1 seeds from seed=1 on")
	assert.Contains(t, said, "all seeds passed")
	assert.Contains(t, said, "faults: cut 2")
	assert.Contains(t, said, "slowest way back to rest: 1m0s (seed=1)")
}

// A seed that fails does not keep the others from being played, and says how it is played again.
func TestSeedsThatFail(t *testing.T) {
	passed, said := played(t, options{seed: goodSeed, seeds: 4})
	assert.False(t, passed)
	for _, words := range []string{
		"FAILED seed=2, played again it failed 5 times of 5", "a deletion was lost", "make chaos-virtual SEED=2 DURATION=1m0s",
		"FAILED seed=3", "panic: a goroutine cannot be ended", "exit status 2",
		"writes 30", "FAILED: 2 of 4 seeds: 2 3",
	} {
		assert.Contains(t, said, words)
	}
}

func TestThePlanOfAFailureIsKept(t *testing.T) {
	o := options{seed: wrongSeed, seeds: 1, failures: t.TempDir(), duration: time.Minute, workers: 1}
	var out bytes.Buffer
	assert.False(t, run(t.Context(), o, &out))
	text, err := os.ReadFile(filepath.Join(o.failures, "seed-2.txt"))
	require.NoError(t, err)
	plan := chaos.NewPlan(wrongSeed, time.Minute)
	assert.Contains(t, string(text), plan.Storms[0].Steps[0].String())
	assert.Contains(t, string(text), plan.Storms[0].Steps[len(plan.Storms[0].Steps)-1].String())
}

func TestFlags(t *testing.T) {
	o, err := parse(nil)
	require.NoError(t, err)
	assert.Equal(t, options{seed: 1, seeds: 1000, duration: chaos.DefaultDuration, workers: o.workers, failures: "build/chaos"}, o)
	o, err = parse([]string{"-seed", "42"})
	require.NoError(t, err)
	assert.Equal(t, uint64(42), o.seed)
	assert.Equal(t, 1, o.seeds)
	o, err = parse([]string{"-seed", "42", "-seeds", "7"})
	require.NoError(t, err)
	assert.Equal(t, 7, o.seeds)
	for _, wrong := range [][]string{{"-seeds", "-1"}, {"-duration", "0s"}, {"-workers", "0"}, {"more"}, {"-seed", "x"}} {
		_, err = parse(wrong)
		assert.Error(t, err, wrong)
		assert.False(t, errors.Is(err, flag.ErrHelp))
	}
}
