package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/course/labtest"
	"orrery/internal/words"
)

// paths has one page of a learner, /w/queue/queue.go, in place of queue/queue.go.
type paths struct{ file string }

func (p paths) Name(printed string) (name string, learners bool) {
	for _, prefix := range []string{"orrery/", "/w/"} {
		printed = strings.TrimPrefix(printed, prefix)
	}
	if !strings.HasPrefix(printed, "queue/") {
		return "", false
	}
	return printed, printed == "queue/queue.go"
}

func (p paths) Show(name string) string {
	if name == "queue/queue.go" {
		return "workshop/work/08-work-queue/queue/queue.go"
	}
	return name
}

func (p paths) File(string) string { return p.file }

func (p paths) Map(text string) string {
	return strings.ReplaceAll(text, "/w/", "workshop/work/08-work-queue/")
}

func newPaths(t *testing.T) paths {
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, "\tline%d()\n", i+1)
	}
	p := paths{filepath.Join(t.TempDir(), "queue.go")}
	require.NoError(t, os.WriteFile(p.file, []byte(lines.String()), 0o600))
	return p
}

// Each row is what Go prints, and what the learner sees in both languages. After a change of a
// text: go test ./internal/lab/course/check -rewrite
func TestRows(t *testing.T) {
	p := newPaths(t)
	datadriven.RunTest(t, "testdata/rows", func(t *testing.T, d *datadriven.TestData) string {
		r := &check.Report{Lab: "08", Race: true, Seconds: 6, Steps: []check.Step{
			{Name: "order", State: check.Passed}, {Name: "drain", State: check.Failed},
			{Name: "hooks", State: check.Open},
		}}
		switch d.Cmd {
		case "explain":
			r.Failure = check.Explain(course.Result{Step: "drain", Output: d.Input, Limit: 10 * time.Second}, p)
			r.Unwritten = []check.Frame{{Place: check.Place{File: p.Show("queue/queue.go"), Line: 96},
				Function: "Queue.Done"}}
		case "hungry":
			r.Failure = check.Explain(course.Result{Step: "drain", Output: d.Input, Hungry: true}, p)
		case "compile":
			r.Build, r.NoModule = check.Compiler(d.Input, p)
		case "vet":
			r.Vet, _ = check.Compiler(d.Input, p)
		case "notes":
			r.Edited, r.Changed, r.Race, r.Hint = []string{"workshop/work/08-work-queue/queue/trace.go"},
				[]string{"queue/queue.go"}, false, "lost-update"
		case "passed":
			for i := range r.Steps {
				r.Steps[i].State = check.Passed
			}
			r.Passed = true
		}
		var out strings.Builder
		for _, lang := range words.Langs {
			r.Print(&out, lang)
		}
		checkScreen(t, out.String())
		return out.String()
	})
}

// checkScreen asserts what holds for every row: it fits a screen, and shows neither the learner's
// file under another path nor a stack of the tests.
func checkScreen(t *testing.T, out string) {
	t.Helper()
	assert.Less(t, strings.Count(out, "\n"), 2*30)
	for _, forbidden := range []string{"/w/", "orrery/queue/", "testing.go", "goroutine 1", "0xc0", "_testmain"} {
		assert.NotContains(t, out, forbidden)
	}
	for line := range strings.Lines(out) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 200, line)
	}
}

// The controller catches panics of its handlers and workers; its log has the stacks.
func TestAPanicInTheLog(t *testing.T) {
	p := newPaths(t)
	const log = `12:00 INFO  connected
12:01 ERROR fault in this program panic=string stack="goroutine 5 [running]:\norrery/wait.Run()\n\torrery/wait/crash.go:50 +0x65\n" informer=a
12:02 ERROR fault in this program panic=string stack="goroutine 53 [running]:\norrery/queue.(*Queue[...]).Get(0x1)\n\torrery/queue/queue.go:66 +0x65\norrery/nsctl.work()\n\torrery/nsctl/worker.go:5 +0x1" handler=b
`
	frames := check.LoggedPanic(log, p)
	require.Len(t, frames, 1)
	assert.Equal(t, check.Frame{Place: check.Place{File: p.Show("queue/queue.go"), Line: 66}, Function: "Queue.Get",
		Source: "line66()"}, frames[0])
	assert.Empty(t, check.LoggedPanic("12:00 INFO  connected\n", p))
}

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
