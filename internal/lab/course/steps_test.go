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

func run(t *testing.T, step course.Step, before ...course.Step) (course.Result, error) {
	t.Helper()
	t.Setenv("STEP", "1")
	return course.TestBinary{Binary: os.Args[0], Dir: ".", Memory: 300 << 20}.Run(t.Context(), step, before)
}

func TestStepsEnd(t *testing.T) {
	result, err := run(t, course.Step{Name: "a", Run: "TestParts/passes"})
	require.NoError(t, err)
	assert.True(t, result.Passed)
	assert.Equal(t, 10*time.Second, result.Limit)

	result, err = run(t, course.Step{Name: "b", Run: "TestParts/fails"})
	require.NoError(t, err)
	assert.False(t, result.Passed)
	assert.Contains(t, result.Output, "because")

	result, err = run(t, course.Step{Name: "c", Run: "TestParts/hangs", Limit: course.Duration{Duration: 100 * time.Millisecond}})
	require.NoError(t, err)
	assert.False(t, result.Passed)
	assert.Contains(t, result.Output, "panic: test timed out after 100ms")

	result, err = run(t, course.Step{Name: "k", Run: "TestParts/leaves"})
	require.NoError(t, err)
	assert.False(t, result.Passed, "no test has run to its end")
	assert.Contains(t, result.Output, "unexpected call to os.Exit(0) during test")

	result, err = run(t, course.Step{Name: "d", Run: "TestParts/talks"})
	require.NoError(t, err)
	assert.True(t, result.Passed)
	assert.Len(t, result.Output, 4<<20, "the beginning is kept")

	result, err = run(t, course.Step{Name: "g", Run: "TestParts/(passes|fails)"}, course.Step{Run: "TestParts/fails"}, course.Step{Run: "TestParts/hangs"})
	require.NoError(t, err)
	assert.True(t, result.Passed, "what an earlier step has run is not run again")
	assert.Contains(t, result.Output, "TestParts/passes")
	assert.NotContains(t, result.Output, "TestParts/fails")

	result, err = run(t, course.Step{Name: "i", Run: "TestParts/passes"}, course.Step{Run: "TestParts"})
	require.NoError(t, err)
	assert.Contains(t, result.Output, "--- PASS: TestParts/passes", "a step whose tests have all run is no mistake")

	_, err = run(t, course.Step{Name: "j", Run: "TestNothing"}, course.Step{Run: "TestParts"})
	assert.EqualError(t, err, "step j: no test has the name TestNothing")

	result, err = run(t, course.Step{Name: "h", Run: "TestParts/passes", Flags: []string{"-test.count=2"}})
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(result.Output, "--- PASS: TestParts/passes"))

	_, err = run(t, course.Step{Name: "e", Run: "TestNothing"})
	assert.EqualError(t, err, "step e: no test has the name TestNothing")
}

// Memory is watched where there is /proc.
func TestAStepThatEatsMemoryIsKilled(t *testing.T) {
	limit := course.Duration{Duration: time.Minute}
	if runtime.GOOS != "linux" {
		limit.Duration = 100 * time.Millisecond
	}
	result, err := run(t, course.Step{Name: "f", Run: "TestParts/eats", Limit: limit})
	require.NoError(t, err)
	assert.False(t, result.Passed)
	assert.Equal(t, runtime.GOOS == "linux", result.Hungry)
}
