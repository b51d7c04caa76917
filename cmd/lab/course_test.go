package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

// repository makes a small repository the current folder. Without a C compiler the go command needs
// no race detector, and is faster.
func repository(t *testing.T) string {
	t.Helper()
	t.Setenv("LC_ALL", "C")
	t.Setenv("CGO_ENABLED", "0")
	dir := labtest.Repository(t)
	t.Chdir(dir)
	return dir
}

const yours = "workshop/work/04-counter/gear/counter.go"

// begun is repository with the lab started, and with a page of the learner in place of the stub
// unless that is empty.
func begun(t *testing.T, page string) (dir string) {
	t.Helper()
	dir = repository(t)
	_, _, stderr := lab(t, "start", "04")
	require.Empty(t, stderr)
	if page != "" {
		labtest.Write(t, yours, page)
	}
	return dir
}

// adding is the reference with another statement that adds.
func adding(statement string) string {
	return strings.Replace(labtest.Reference, "c.n += n", statement, 1)
}

func TestALearnersWay(t *testing.T) {
	repository(t)
	code, stdout, stderr := lab(t, "start", "4")
	assert.Zero(t, code, stderr)
	assert.Equal(t,
		yours+" is yours: 2 functions to write.\nTask: workshop/labs/04-counter/README.md    Then: lab test 04\n",
		stdout)

	code, _, stderr = lab(t, "start", "04")
	assert.Equal(t, 2, code, "it is not started again by mistake")
	assert.Equal(t, "lab: lab 04 is under way, and your page is "+yours+
		"; go on with \"lab test 04\", or begin again with \"lab reset 04\", which keeps what you wrote\n", stderr)

	code, stdout, _ = lab(t, "test", "04")
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "✘ sum   · twice   0 of 2 steps")
	assert.Contains(t, stdout, "still to write: Counter.Add ("+yours+":12)")
	assert.Contains(t, stdout, "Without the race detector")

	wrong := adding("c.n = n")
	labtest.Write(t, yours, wrong)
	code, stdout, _ = lab(t, "test", "04")
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout,
		"  TestContract/sum\n    the sum of 2 and 3 is 3, not 5\n  "+yours+":12  Counter.Add\n  a hint matches "+
			"this failure: lab hint 04\n")

	for _, want := range []string{"It keeps the last only.", "Hint 1 of 3:\none", "Hint 2 of 3:\ntwo",
		"Hint 3 of 3:\nthree", "That was the last hint."} {
		code, stdout, _ = lab(t, "hint", "04")
		assert.Zero(t, code)
		assert.Contains(t, stdout, want)
	}
	code, _, stderr = lab(t, "diff", "04")
	assert.Equal(t, 2, code)
	assert.Equal(t,
		"lab: the difference shows the solution; pass \"lab test 04\" first, or type: lab diff 04 --give-up\n", stderr)
	_, stdout, _ = lab(t, "diff", "04", "--give-up")
	assert.Contains(t, stdout, "\n-\tc.n += n // the reference does it so\n+\tc.n = n // the reference does it so\n")

	labtest.Write(t, yours, labtest.Reference)
	code, stdout, _ = lab(t, "test", "04")
	assert.Zero(t, code, stdout)
	assert.Contains(t, stdout, "✔ sum   ✔ twice   2 of 2 steps")
	assert.True(t, strings.HasSuffix(stdout, "\n\nYou have built a counter.\n"), stdout)
	_, stdout, _ = lab(t, "hint", "04")
	assert.Equal(t, "All steps have passed. How the reference does it: lab diff 04\n", stdout)
	_, stdout, _ = lab(t, "diff", "04")
	assert.Equal(t, "Your page is the reference, word for word.\n", stdout)
	_, stdout, _ = lab(t, "list")
	assert.Contains(t, stdout,
		"    state        min left  lab [article]\n04  passed              –  Counter  [counting]\n")

	labtest.Write(t, filepath.Join(filepath.Dir(yours), "added.go"), "package gear\n")
	_, stdout, _ = lab(t, "list")
	assert.Contains(t, stdout, "04  changed 2/2         –  Counter  [counting]",
		"what was added was not tested: the lab has not passed with it")

	labtest.Write(t, yours, wrong)
	code, _, _ = lab(t, "test", "04")
	assert.Equal(t, 1, code)
	_, stdout, _ = lab(t, "diff", "04")
	assert.Contains(t, stdout, "+\tc.n = n", "a page that has passed keeps its difference open")
	_, stdout, _ = lab(t, "hint", "04")
	assert.Contains(t, stdout, "It keeps the last only.", "the failure counts, not that it passed before")
	_, stdout, _ = lab(t, "list")
	assert.Contains(t, stdout, "04  changed 0/2         –  Counter  [counting]")

	_, stdout, _ = lab(t, "reset", "04", "--lang", "zh-CN")
	assert.Contains(t, stdout, "之前的目录已改名为 workshop/work/04-counter.bak-1\n")
	assert.Contains(t, stdout, "workshop/labs/04-counter/README.zh-CN.md", "the task in the learner's language")
	_, stdout, _ = lab(t, "list")
	assert.Contains(t, stdout, "04  started 0/2        20  Counter  [counting]")
	code, _, _ = lab(t, "diff", "04")
	assert.Equal(t, 2, code, "a new beginning closes it")
}

// A lab whose page was deleted is not one that has not been started.
func TestAPageThatIsGone(t *testing.T) {
	begun(t, "")
	require.NoError(t, os.Remove(yours))
	for _, command := range []string{"test", "hint", "diff", "run"} {
		code, _, stderr := lab(t, command, "04")
		assert.Equal(t, 2, code, command)
		assert.Equal(t, "lab: "+yours+" is gone; \"lab reset 04\" puts the stub back\n", stderr, command)
	}
	_, stdout, _ := lab(t, "reset", "04")
	assert.Contains(t, stdout, yours+" is yours")
}

// A change of the reference, or of a copy that is there to read, is named.
func TestChangesOutsideOfThePageAreNamed(t *testing.T) {
	dir := begun(t, labtest.Reference)
	labtest.Write(t, filepath.Join(dir, labtest.Page), labtest.Reference+"\n// newer\n")
	labtest.Write(t, filepath.Join(dir, "workshop/work/04-counter/gear/other.go"), "package gear\n\nfunc broken() {\n")
	code, stdout, _ := lab(t, "test", "04")
	assert.Zero(t, code, stdout)
	assert.Contains(t, stdout, "workshop/work/04-counter/gear/other.go was changed, but is only for reading")
	assert.Contains(t, stdout, "The reference gear/counter.go has changed since you started.")
}

func TestWithoutALabThereIsNothingToTest(t *testing.T) {
	dir := repository(t)
	fails := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := lab(t, args...)
		assert.Equal(t, 2, code, args)
		assert.Empty(t, stdout)
		assert.Equal(t, "lab: "+want+"\n", stderr)
	}
	for _, command := range []string{"test", "run", "reset"} {
		fails("lab 04 has not been started; type: lab start 04", command, "4")
	}
	labs := filepath.Join(dir, "workshop/labs")
	require.NoError(t, os.CopyFS(filepath.Join(labs, "03-other"), os.DirFS(filepath.Join(labs, "04-counter"))))
	labtest.Replace(t, filepath.Join(labs, "03-other/lab.yaml"), `id: "04"`, `id: "03"`)
	labtest.Replace(t, filepath.Join(labs, "03-other/lab.yaml"), "first: 1\n", "")
	_, stdout, _ := lab(t, "list")
	assert.Regexp(t, `(?m)^04 .*\n\n?\D+\n03 `, stdout, "the labs that matter first come first")

	require.NoError(t, os.RemoveAll(labs))
	fails("this repository has no labs in workshop/labs", "list")
	t.Chdir(t.TempDir())
	fails("this folder is not inside the repository of Orrery; go there, then try again", "list")
}

// A failure about which the lab has no hint gets a general one, which says so. The last test of a
// page that does not compile, or that go vet faults, has no failure to hint at.
func TestAFailureWithoutAHint(t *testing.T) {
	for adds, want := range map[string]string{
		"if c.n != n {\n\t\tc.n += n\n\t}": "No hint is about this failure. A general one:\nHint 1 of 3:\none\n",
		"c.n += n\n\tc.n = c.n": "All steps passed, but go vet found a mistake; \"lab test 04\" shows it.\n" +
			"This call used none of the three hints. The next one shows hint 1.\n",
		"c.m += n": "The page did not compile in the last test; \"lab test 04\" shows the errors.\n" +
			"This call used none of the three hints. The next one shows hint 1.\n",
	} {
		begun(t, adding(adds))
		code, stdout, _ := lab(t, "test", "04")
		require.Equal(t, 1, code, "the lab has not passed with %q: %s", adds, stdout)
		_, stdout, _ = lab(t, "hint", "04")
		assert.Equal(t, want, stdout)
	}
}

func TestInsideALabsFolderItsNumberMayBeLeftOut(t *testing.T) {
	dir := repository(t)
	t.Chdir(filepath.Join(dir, "workshop/labs/04-counter"))
	_, stdout, _ := lab(t, "start")
	assert.Contains(t, stdout, "../../work/04-counter/gear/counter.go is yours")
	t.Chdir(filepath.Join(dir, "workshop/work/04-counter/gear"))
	_, stdout, _ = lab(t, "hint")
	assert.Contains(t, stdout, "Hint 1 of 3")

	labtest.Write(t, filepath.Join(course.FolderIn(dir).Dir, "progress.json"), "{")
	code, _, stderr := lab(t, "list")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "progress.json cannot be read; remove it, and \"lab test\" fills a new one\n")
}

// A page is tested when it is saved, until a signal.
func TestWatchTestsAfterEachSave(t *testing.T) {
	folder := course.FolderIn(begun(t, adding("c.n = n")))
	watch := start(t, "watch", "04")
	watch.until(t, "✘ sum   · twice   0 of 2 steps")
	labtest.Write(t, yours, labtest.Reference)
	watch.until(t, "All steps passed without the race detector. The whole test: lab test 04\n")
	labtest.Write(t, yours, adding("c.m += n"))
	watch.until(t, "c.m undefined")
	assert.NoError(t, watch.end())
	progress, err := folder.Progress()
	require.NoError(t, err)
	assert.Equal(t, "build", progress["04"].Failed.Kind(), "lab hint is about the last test")
}

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
	assert.True(t, strings.HasPrefix(stdout, `
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
`), stdout)
	assert.True(t, strings.HasSuffix(stdout, "\nRight answers: 0 of 2\n"), stdout)

	code, stdout, _ = quiz(t, "\na\n", "quiz", "--lang", "zh-CN")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "✔ 对。\n一个键只等一次。\n")
	assert.True(t, strings.HasSuffix(stdout, "\n答对 1 题，共 1 题。\n"), stdout)
	_, _, stderr = lab(t, "start", "04")
	require.Empty(t, stderr)
	progress, err := course.FolderIn(dir).Progress()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"order": "b", "again": "1"}, progress["04"].Answers,
		"a question that is skipped keeps its answer, and a lab that begins has those of before")
}

func TestDoctor(t *testing.T) {
	repository(t)
	code, stdout, stderr := lab(t, "doctor")
	assert.Zero(t, code, stdout+stderr)
	assert.Equal(t, "Building the tests of all labs and the controller. The first time takes some minutes …\n", stderr)
	assert.Regexp(t, `^  ✔ go +go1\S+
  ✔ modules .*
  · race detector  Without the race detector: .*
  (✔ kubectl +/.*|· kubectl +labs 12 and 13 need kubectl; .*)
  ✔ work folder    workshop/work can be written
  ✔ build          the tests of all labs and the controller are built
$`, stdout)

	require.NoError(t, os.RemoveAll("workshop/work"))
	labtest.Write(t, "workshop/work", "a file")
	code, stdout, _ = lab(t, "doctor", "--room")
	assert.Equal(t, 2, code)
	assert.Regexp(t, `^\S+  `+runtime.GOOS+`/\S+  go1\S+  race no  warm yes  not ready: work folder\n$`, stdout)

	t.Setenv("PATH", t.TempDir())
	code, stdout, stderr = lab(t, "doctor")
	assert.Equal(t, 2, code)
	assert.Empty(t, stderr)
	assert.Regexp(t, "✘ go .*install Go 1.26 or later", stdout)
}

// A kit is unpacked, and its doctor knows where modules come from.
func TestBundle(t *testing.T) {
	dir := repository(t)
	_, _, stderr := lab(t, "bundle")
	assert.Equal(t, "lab: a kit is made from a git clone, and git does not list the files of .\n", stderr)
	labtest.Track(t, dir)
	code, _, stderr := lab(t, "bundle", "--go", "nothing.tar.gz")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "nothing.tar.gz: ")

	labtest.Write(t, "go1.26.0.linux-amd64.tar.gz", "Go")
	code, stdout, stderr := lab(t, "bundle", "--go", "go1.26.0.linux-amd64.tar.gz")
	require.Zero(t, code, stderr)
	assert.Regexp(t, `^orrery-kit-\S+\.tar\.gz: \d+ MB\nOn a laptop: unpack it \(tar xzf orrery-kit-`, stdout)
	kits, err := filepath.Glob("orrery-kit-*.tar.gz")
	require.NoError(t, err)
	require.Len(t, kits, 1)
	output, err := exec.Command("tar", "xzf", kits[0]).CombinedOutput()
	require.NoError(t, err, string(output))
	t.Chdir(filepath.Join(dir, course.KitRoot))
	labtest.Write(t, "go.mod", "module orrery\n\ngo 1.26.0\n\nrequire example.com/nothing v1.0.0\n")
	labtest.Write(t, "gear/needs.go", "package gear\n\nimport _ \"example.com/nothing\"\n")
	_, stdout, _ = lab(t, "doctor")
	assert.Contains(t, stdout, "  ✘ modules        modules are missing; fill the cache from the kit: ")
}

// unwritten is what a stub does.
const unwritten = `panic("lab 04: Counter.Add is yours to write")`

// The controller of the small repository ends at once.
func TestRunSaysWhyThereIsNoOutcome(t *testing.T) {
	dir := begun(t, "")
	runs := func(page string, code int, want string, args ...string) {
		t.Helper()
		if page != "" {
			labtest.Write(t, yours, page)
		}
		got, stdout, stderr := lab(t, append([]string{"run"}, args...)...)
		assert.Equal(t, code, got, stderr)
		assert.Contains(t, stdout, want)
	}
	runs("", 1, "  still to write: Counter.Add ("+yours+":12)\n  still to write: Counter.Value ("+yours+":17)\n", "04")
	runs(adding("c.m += n"), 1, "  "+yours+":15: c.m undefined", "04")
	runs(adding(`panic("mine")`), 1, "The program ended by itself:\n    panic: mine\n      "+yours+":15  Counter.Add\n",
		"04", "--all")
	runs("", 1, "the program's log is in workshop/work/04-counter/run.log", "04")
	runs(labtest.Reference, 0, "mine has your page in it.\n", "04", "--build", "mine")
	assert.FileExists(t, filepath.Join(dir, "mine"))

	code, stdout, _ := lab(t, "test", "04")
	require.Zero(t, code, stdout)
	runs("", 1, "With your page of lab 04, Counter\n", "--all")
	runs("", 1, "Not yet. The controller's log is in workshop/work/run.log\n", "--all")
	runs(labtest.Reference+"\n// changed\n", 1, "Your page of lab 04, as it is now, has not passed its tests", "--all")
	runs(adding(unwritten), 1, "still to write: Counter.Add", "--all")
}

// A page takes part in the run of another lab if its program and its gears have it.
func TestAllUsesThePagesThatRun(t *testing.T) {
	page := func(path, gears, program string) *course.Lab {
		return &course.Lab{ID: path, Files: []course.File{{Path: path}},
			Run: course.Run{Gears: gears, Program: program}}
	}
	queue, fifo := page("queue/queue.go", "textbook", ""), page("deltafifo/fifo.go", "", "")
	inorder := page("deltafifo/inorder/fifo.go", "textbook,deltafifo=inorder", "")
	machines := page("examples/m/c.go", "", "examples/m")
	harness := page("internal/lab/bench/p.go", "", "cmd/lab")
	for _, c := range []struct {
		run, lab *course.Lab
		want     bool
	}{
		{queue, fifo, true}, {fifo, queue, true}, {queue, inorder, false}, {inorder, fifo, false},
		{inorder, queue, true}, {inorder, inorder, true}, {queue, machines, false}, {machines, queue, false},
		{harness, queue, true}, {queue, harness, false}, {harness, inorder, false},
	} {
		assert.Equal(t, c.want, c.run.Run.Uses(c.lab), "the run of %s uses the page %s", c.run.ID, c.lab.ID)
	}
	assert.Equal(t, "inorder", benchForm(inorder.Run))
	assert.Equal(t, "textbook", benchForm(fifo.Run))
}

// tracing is a controller that serves a trace of one event, and then uses the learner's page, which
// ends it.
const tracing = `package main

import (
	"fmt"
	"io"
	"net"
	"net/http"

	"orrery/gear"
)

func main() {
	connected := make(chan struct{})
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	http.HandleFunc("/trace", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "{\"h\":1,\"schema\":\"orrery.trace/2\",\"gears\":\"textbook\",\"workers\":3}\n"+
			"{\"s\":0,\"t\":0,\"state\":{}}\n{\"s\":1,\"t\":5,\"e\":\"queue.added\",\"i\":\"q\",\"k\":\"a\"}\n")
		w.(http.Flusher).Flush()
		close(connected)
		select {}
	})
	go http.Serve(listener, nil)
	fmt.Printf("The view: http://%s/?token=x\n", listener.Addr())
	<-connected
	gear.Twice(&gear.Counter{}, 1)
}
`

// The page shows the run of the controller, to its end: it says what is yours, and its last line is
// the panic of a page that is not written. It stays until a signal.
func TestRunShowsTheView(t *testing.T) {
	dir := begun(t, adding(unwritten))
	labtest.Write(t, filepath.Join(dir, "cmd/orrery/main.go"), tracing)
	run := start(t, "run", "04", "--view", "--no-open")
	found := regexp.MustCompile(`The view: (http://\S+/)(\S+)`).FindStringSubmatch(
		run.until(t, "The view stays until Ctrl-C"))
	require.NotNil(t, found)
	get := func(path string) string {
		answer, err := http.Get(found[1] + path)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, 200, answer.StatusCode, "%s", text)
		return string(text)
	}
	lines := strings.Split(strings.TrimSpace(get("trace"+found[2])), "\n")
	assert.Contains(t, lines[0], `"run":"lab run","mode":"lab"`)
	assert.Contains(t, lines[0], `"workers":3,"yours":["gear/counter.go"]`)
	assert.Contains(t, lines[len(lines)-2], `"e":"queue.added"`)
	assert.Contains(t, lines[len(lines)-1], `"e":"trace.end","reason":"panic: lab 04: Counter.Add is yours to write"`)
	assert.Contains(t, get("code"+found[2]+"&gears=textbook"), "queue/queue.go")
	assert.Equal(t, program.Exit(1), run.end())
}
