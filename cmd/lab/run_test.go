package main

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

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
