package hints_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/labs/hints"
	"orrery/internal/lab/labs/labtest"
	"orrery/internal/lab/labs/work"
)

func TestHintsComeOneByOne(t *testing.T) {
	lab := labtest.Lab(t, labtest.Repository(t))
	var progress work.LabProgress
	next := func() string {
		hint := hints.Next(lab, progress)
		hint.Shown(&progress)
		if hint.Repeated {
			return hint.English + " again"
		}
		return hint.English
	}
	assert.Equal(t, "one", next(), "without a failure")
	progress.Failed = &work.FailedTest{Test: "TestContract/sum", Output: "assertion\nthe sum of 2 and 3 is 3, not 5"}
	assert.Equal(t, "It keeps the last only.", next(), "a failure has a hint of its own")
	assert.Equal(t, "two", next())
	progress.Failed = &work.FailedTest{Test: "TestContract/sum", Output: "assertion\nthe sum of 2 and 3 is 4, not 5"}
	assert.Equal(t, "Wrong.", next(), "another failure")
	progress.Failed = &work.FailedTest{Test: "TestContract/twice"}
	assert.Equal(t, "three", next(), "a failure without a hint")
	assert.Equal(t, "three again", next())
	assert.Equal(t, 3, progress.Hints)
}
