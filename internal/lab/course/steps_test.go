package course_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
)

// These tests run their own binary with STEP=1: then TestParts has parts that pass, fail and go
// wrong.
func TestParts(t *testing.T) {
	if os.Getenv("STEP") == "" {
		return
	}
	t.Run("passes", func(*testing.T) {})
	t.Run("fails", func(t *testing.T) { t.Error("because") })
	t.Run("hangs", func(*testing.T) { select {} })
	t.Run("leaves", func(*testing.T) { os.Exit(0) })
	t.Run("talks", func(t *testing.T) { fmt.Println(strings.Repeat("x", 8<<20)) })
	t.Run("eats", func(t *testing.T) {
		var eaten [][]byte
		for {
			eaten = append(eaten, []byte(strings.Repeat("x", 1<<20)))
			time.Sleep(time.Millisecond)
			runtime.KeepAlive(eaten)
		}
	})
}

func run(t *testing.T, step course.Step, before ...string) (course.Result, error) {
	t.Helper()
	t.Setenv("STEP", "1")
	var steps []course.Step
	for _, each := range before {
		steps = append(steps, course.Step{Run: each})
	}
	step.Name, step.Run = "a", "Test"+step.Run
	binary := course.TestBinary{Binary: os.Args[0], Dir: ".", LimitFactor: 2, Memory: 300 << 20}
	return binary.Run(t.Context(), step, steps)
}

func TestStepsEnd(t *testing.T) {
	for _, c := range []struct {
		step   course.Step
		before []string
		passed bool
		output string // a regular expression
	}{
		{step: course.Step{Run: "Parts/passes"}, passed: true},
		{step: course.Step{Run: "Parts/fails"}, output: "because"},
		{step: course.Step{Run: "Parts/hangs", Limit: 100 * time.Millisecond},
			output: "panic: test timed out after 200ms"},
		{step: course.Step{Run: "Parts/leaves"}, output: `unexpected call to os.Exit\(0\) during test`},
		{step: course.Step{Run: "Parts/passes", Flags: []string{"-test.count=2"}}, passed: true,
			output: `(?s)(--- PASS: TestParts/.*){2}`},
		// What an earlier step has run is not run again, unless nothing else is left.
		{step: course.Step{Run: "Parts/(passes|fails)"}, before: []string{"TestParts/fails", "TestParts/hangs"},
			passed: true, output: "TestParts/passes"},
		{step: course.Step{Run: "Parts/passes"}, before: []string{"TestParts"}, passed: true,
			output: "--- PASS: TestParts/passes"},
	} {
		result, err := run(t, c.step, c.before...)
		require.NoError(t, err)
		assert.Equal(t, c.passed, result.Passed, result.Output)
		assert.Regexp(t, c.output, result.Output, "the output of %s, whose limit is doubled", c.step.Run)
	}
	result, err := run(t, course.Step{Run: "Parts/talks"})
	require.NoError(t, err)
	assert.Len(t, result.Output, 4<<20, "the beginning is kept")
	for _, before := range [][]string{nil, {"TestParts"}} {
		_, err = run(t, course.Step{Run: "Nothing"}, before...)
		assert.EqualError(t, err, "step a: no test has the name TestNothing")
	}
	_, err = course.TestBinary{Binary: "/missing"}.Run(t.Context(), course.Step{}, nil)
	assert.ErrorIs(t, err, os.ErrNotExist, "a binary that cannot run is no failed step")
}

// Memory is watched where there is /proc.
func TestAStepThatEatsMemoryIsKilled(t *testing.T) {
	limit := time.Minute
	if runtime.GOOS != "linux" {
		limit = 100 * time.Millisecond
	}
	result, err := run(t, course.Step{Run: "Parts/eats", Limit: limit})
	require.NoError(t, err)
	assert.False(t, result.Passed)
	assert.Equal(t, runtime.GOOS == "linux", result.Hungry)
}
