package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/course"
)

// quiz runs lab with an input.
func quiz(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	root := newRootCommand()
	root.SetIn(strings.NewReader(input))
	return programtest.Call(t, root, error.Error, args...)
}

func TestQuizSaysWhatIsRightAndWhatWasBelieved(t *testing.T) {
	dir := repository(t)
	code, stdout, stderr := quiz(t, "x\nd\nA\nb\n", "quiz", "04")
	assert.Zero(t, code, stderr)
	assert.Equal(t, `
Lab 04, Counter: question 1 of 2

Which key comes out first?

  a  The last.
  b  The first.
  c  None.

Your answer, a to c: x
Type a letter from a to c, or Enter to skip the question.
Your answer, a to c: d
Type a letter from a to c, or Enter to skip the question.
Your answer, a to c: A

✘ No. The answer: The first.
The belief behind your answer: A queue is a stack.
The queue is first in first out.

What the reference does:
    add a b
    get → a

Lab 04, Counter: question 2 of 2

How many keys wait?

  a  One.
  b  Two.
  c  None.

Your answer, a to c: b

✘ No. The answer: One.
The belief behind your answer: Each Add counts.
A key waits once.

What the reference does:
    add a a
    passes → 1

Right answers: 0 of 2
`, stdout)

	code, stdout, _ = quiz(t, "\na\n", "quiz", "--lang", "zh-CN")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "✔ 对。\n一个键只等一次。\n")
	assert.True(t, strings.HasSuffix(stdout, "\n答对 1 题，共 1 题。\n"), stdout)
	progress, err := course.FolderIn(dir).Progress()
	require.NoError(t, err)
	assert.Equal(t, course.Progress{"04": {Answers: map[string]string{"order": "b", "again": "1"}}}, progress,
		"a question that is skipped keeps its answer")
}

func TestTheEndOfTheInputEndsTheQuiz(t *testing.T) {
	repository(t)
	code, stdout, stderr := quiz(t, "", "quiz", "04")
	assert.Zero(t, code, stderr)
	assert.True(t, strings.HasSuffix(stdout, "Your answer, a to c: \n"), stdout)
}
