package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/course/build"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/course/labtest"
)

func TestHintsComeOneByOne(t *testing.T) {
	lab := labtest.Lab(t, labtest.Repository(t))
	var progress build.LabProgress
	next := func() string {
		hint := check.Next(lab, progress)
		hint.Shown(&progress)
		if hint.Repeated {
			return hint.English + " again"
		}
		return hint.English
	}
	assert.Equal(t, "one", next(), "without a failure")
	progress.Failed = &build.FailedTest{Test: "TestContract/sum", Output: "assertion\nthe sum of 2 and 3 is 3, not 5"}
	assert.Equal(t, "It keeps the last only.", next(), "a failure has a hint of its own")
	assert.Equal(t, "two", next())
	progress.Failed = &build.FailedTest{Test: "TestContract/sum", Output: "assertion\nthe sum of 2 and 3 is 4, not 5"}
	assert.Equal(t, "Wrong.", next(), "another failure")
	progress.Failed = &build.FailedTest{Test: "TestContract/twice"}
	assert.Equal(t, "three", next(), "a failure without a hint")
	assert.Equal(t, "three again", next())
	assert.Equal(t, 3, progress.Hints)
}

// A page that does not compile, hangs or has a race uses no rung, unless the lab has a hint for it
// or the call is repeated.
func TestTroubleUsesNoRung(t *testing.T) {
	lab := labtest.Lab(t, labtest.Repository(t))
	var progress build.LabProgress
	next := func() check.Hint {
		hint := check.Next(lab, progress)
		hint.Shown(&progress)
		return hint
	}
	broken := &build.FailedTest{Output: "build"}
	for i, c := range []struct {
		failed  *build.FailedTest
		trouble check.Kind
	}{
		{&build.FailedTest{Output: "unwritten"}, check.Unwritten}, {broken, check.Build}, {broken, check.Build}, {&build.FailedTest{Test: "TestContract/twice", Output: "race"}, check.Race},
		{&build.FailedTest{Test: "TestContract/twice", Output: "hang\nline"}, check.Hang}, {&build.FailedTest{Output: "vet"}, check.Vet},
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

	progress.Fail(&build.FailedTest{Test: "TestContract/sum", Output: "deadlock"})
	assert.Equal(t, "Wrong.", next().English, "the lab has a hint for it")
	progress.Fail(&build.FailedTest{Test: "TestContract/sum", Output: "deadlock\nagain"})
	assert.Equal(t, "two", next().English)
}
