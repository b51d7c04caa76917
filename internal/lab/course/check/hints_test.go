package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/course/labtest"
)

func TestHintsComeOneByOne(t *testing.T) {
	lab := labtest.Lab(t, labtest.Repository(t))
	var progress course.LabProgress
	next := func() string {
		hint := check.Next(lab, progress)
		hint.Shown(&progress)
		if hint.Repeated {
			return hint.English + " again"
		}
		return hint.English
	}
	assert.Equal(t, "one", next(), "without a failure")
	progress.Failed = &course.FailedTest{Test: "TestContract/sum", Output: "assertion\nthe sum of 2 and 3 is 3, not 5"}
	assert.Equal(t, "It keeps the last only.", next(), "a failure has a hint of its own")
	assert.Equal(t, "two", next())
	progress.Failed = &course.FailedTest{Test: "TestContract/sum", Output: "assertion\nthe sum of 2 and 3 is 4, not 5"}
	assert.Equal(t, "Wrong.", next(), "another failure")
	progress.Failed = &course.FailedTest{Test: "TestContract/twice"}
	assert.Equal(t, "three", next(), "a failure without a hint")
	assert.Equal(t, "three again", next())
	assert.Equal(t, 3, progress.Hints)
}

// A page that does not compile, hangs or has a race uses no rung, unless the lab has a hint for it
// or the call is repeated.
func TestTroubleUsesNoRung(t *testing.T) {
	lab := labtest.Lab(t, labtest.Repository(t))
	var progress course.LabProgress
	next := func() check.Hint {
		hint := check.Next(lab, progress)
		hint.Shown(&progress)
		return hint
	}
	broken := &course.FailedTest{Output: "build"}
	for i, c := range []struct {
		failed  *course.FailedTest
		trouble check.Kind
	}{
		{&course.FailedTest{Output: "unwritten"}, check.Unwritten}, {broken, check.Build}, {broken, check.Build},
		{&course.FailedTest{Test: "TestContract/twice", Output: "race"}, check.Race},
		{&course.FailedTest{Test: "TestContract/twice", Output: "hang\nline"}, check.Hang},
		{&course.FailedTest{Output: "vet"}, check.Vet},
	} {
		progress.Fail(c.failed)
		hint := next()
		assert.Equal(t, c.trouble, hint.Trouble, i)
		assert.Equal(t, 1, hint.Rung, "the rung that comes next")
		assert.False(t, hint.Complete())
	}
	assert.Zero(t, progress.Hints)
	hint := next()
	assert.Empty(t, hint.Trouble, "the second call shows a hint")
	assert.Equal(t, "one", hint.English)

	progress.Fail(&course.FailedTest{Test: "TestContract/sum", Output: "deadlock"})
	assert.Equal(t, "Wrong.", next().English, "the lab has a hint for it")
	progress.Fail(&course.FailedTest{Test: "TestContract/sum", Output: "deadlock\nagain"})
	assert.Equal(t, "two", next().English)

	for range 2 {
		progress.Fail(&course.FailedTest{Test: "TestContract/twice", Output: "race"})
		assert.Equal(t, check.Race, next().Trouble, "a race that comes back after another failure says so again")
		progress.Fail(&course.FailedTest{Test: "TestContract/twice", Output: "failed"})
		assert.Empty(t, next().Trouble)
	}
}
