package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/course/labtest"
)

// nexts returns a function that asks for the next hint after a test, as "lab hint" does.
func nexts(t *testing.T) (progress *course.LabProgress, next func(failed ...*course.FailedTest) check.Hint) {
	lab, progress := labtest.Lab(t, labtest.Repository(t)), &course.LabProgress{}
	return progress, func(failed ...*course.FailedTest) check.Hint {
		for _, each := range failed {
			progress.Fail(each)
		}
		hint := check.Next(lab, *progress)
		hint.Shown(progress)
		return hint
	}
}

func failed(test, output string) *course.FailedTest {
	return &course.FailedTest{Test: test, Output: output}
}

const sum, twice = "TestContract/sum", "TestContract/twice"

func TestHintsComeOneByOne(t *testing.T) {
	progress, next := nexts(t)
	assert.Equal(t, "one", next().English, "without a failure")
	assert.Equal(t, "It keeps the last only.", next(failed(sum, "assertion\nthe sum of 2 and 3 is 3, not 5")).English,
		"a failure has a hint of its own")
	assert.Equal(t, "two", next().English)
	assert.Equal(t, "Wrong.", next(failed(sum, "assertion\nthe sum of 2 and 3 is 4, not 5")).English, "another failure")
	hint := next(failed(twice, ""))
	assert.Equal(t, "three", hint.English, "a failure without a hint")
	assert.False(t, hint.Repeated)
	hint = next()
	assert.Equal(t, "three", hint.English)
	assert.True(t, hint.Repeated)
	assert.Equal(t, 3, progress.Hints)
}

// A page that does not compile, hangs or has a race uses no rung, unless the lab has a hint for it
// or the call is repeated.
func TestTroubleUsesNoRung(t *testing.T) {
	progress, next := nexts(t)
	broken := failed("", "build")
	for i, c := range []struct {
		failed  *course.FailedTest
		trouble check.Kind
	}{
		{failed("", "unwritten"), check.Unwritten}, {broken, check.Build}, {broken, check.Build},
		{failed(twice, "race"), check.Race}, {failed(twice, "hang\nline"), check.Hang}, {failed("", "vet"), check.Vet},
	} {
		hint := next(c.failed)
		assert.Equal(t, c.trouble, hint.Trouble, i)
		assert.Equal(t, 1, hint.Rung, "the rung that comes next")
		assert.False(t, hint.Complete())
	}
	assert.Zero(t, progress.Hints)
	hint := next()
	assert.Empty(t, hint.Trouble, "the second call shows a hint")
	assert.Equal(t, "one", hint.English)

	assert.Equal(t, "Wrong.", next(failed(sum, "deadlock")).English, "the lab has a hint for it")
	assert.Equal(t, "two", next(failed(sum, "deadlock\nagain")).English)
	for range 2 {
		assert.Equal(t, check.Race, next(failed(twice, "race")).Trouble,
			"a race that comes back after another failure says so again")
		assert.Empty(t, next(failed(twice, "failed")).Trouble)
	}
}
