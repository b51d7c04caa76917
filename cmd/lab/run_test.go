package main

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/lab/clustertest"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

func TestTheProgramIsKept(t *testing.T) {
	dir := begun(t, labtest.Reference)
	code, stdout, stderr := lab(t, "run", "04", "--build", "mine")
	assert.Zero(t, code, stderr)
	assert.Contains(t, stdout, "mine has your page in it.\n")
	assert.FileExists(t, filepath.Join(dir, "mine"))
}

func TestTheWholeRuntimeNamesItsPages(t *testing.T) {
	dir := begun(t, labtest.Reference)
	code, stdout, _ := lab(t, "test", "04")
	require.Zero(t, code, stdout)
	code, stdout, _ = lab(t, "run", "--all")
	assert.Equal(t, 1, code, "the controller of the small repository ends at once")
	assert.Contains(t, stdout, "With your page of lab 04, Counter\n")
	assert.Contains(t, stdout, "Not yet. The controller's log is in workshop/work/run.log\n")

	assert.NotContains(t, stdout, "has not passed")
	labtest.Write(t, filepath.Join(dir, yours), labtest.Reference+"\n// changed\n")
	_, stdout, _ = lab(t, "run", "--all")
	assert.Contains(t, stdout, "Your page of lab 04, as it is now, has not passed its tests,\n")

	labtest.Write(t, filepath.Join(dir, yours), adding(unwritten))
	code, stdout, _ = lab(t, "run", "--all")
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "still to write: Counter.Add")
}

// unwritten is what a stub does.
const unwritten = `panic("lab 04: Counter.Add is yours to write")`

// A page takes part in the run of another lab if its program and its gears have it.
func TestAllUsesThePagesThatRun(t *testing.T) {
	page := func(path, gears, program string) *course.Lab {
		return &course.Lab{ID: path, Files: []course.File{{Path: path}},
			Run: course.Run{Gears: gears, Program: program}}
	}
	queue, fifo := page("queue/queue.go", "textbook", ""), page("deltafifo/fifo.go", "", "")
	inorder, machines := page("deltafifo/inorder/fifo.go", "textbook,deltafifo=inorder", ""),
		page("examples/m/c.go", "", "examples/m")
	harness := page("internal/lab/bench/p.go", "", "cmd/lab")
	for _, c := range []struct {
		run, lab *course.Lab
		want     bool
	}{
		{queue, fifo, true}, {fifo, queue, true}, {queue, inorder, false}, {inorder, fifo, false},
		{inorder, queue, true},
		{inorder, inorder, true}, {queue, machines, false}, {machines, queue, false},
		{harness, queue, true}, {queue, harness, false}, {harness, inorder, false},
	} {
		assert.Equal(t, c.want, c.run.Run.Uses(c.lab), "the run of %s uses the page %s", c.run.ID, c.lab.ID)
	}
	assert.Equal(t, "inorder", benchForm(inorder.Run))
	assert.Equal(t, "textbook", benchForm(fifo.Run))
}

// tracing is a controller that serves a trace of one event, and then uses the learner's page.
const tracing = `package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"orrery/gear"
)

func main() {
	port := os.Args[slices.Index(os.Args, "--metrics-port")+1]
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	connected, over, written := make(chan struct{}), make(chan struct{}), make(chan struct{})
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	http.HandleFunc("/trace", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "{\"h\":1,\"schema\":\"orrery.trace/2\",\"gears\":\"textbook\",\"workers\":3}\n"+
			"{\"s\":0,\"t\":0,\"state\":{}}\n{\"s\":1,\"t\":5,\"e\":\"queue.added\",\"i\":\"q\",\"k\":\"a\"}\n")
		w.(http.Flusher).Flush()
		close(connected)
		<-over
		io.WriteString(w, "{\"s\":2,\"t\":9,\"e\":\"trace.end\",\"reason\":\"stopped\"}\n")
		w.(http.Flusher).Flush()
		close(written)
	})
	go http.Serve(listener, nil)
	fmt.Printf("The view: http://%s/?token=x\n", listener.Addr())
	<-connected
	gear.Twice(&gear.Counter{}, 1)
	http.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	go http.ListenAndServe("127.0.0.1:"+port, nil)
	<-ended
	close(over)
	<-written
}
`

// The page shows the run of the controller, to its end: it says what is yours, and its last line is
// the panic of a page that is not written. It stays until a signal.
func TestRunShowsTheView(t *testing.T) {
	dir := begun(t, adding(unwritten))
	labtest.Write(t, filepath.Join(dir, "cmd/orrery/main.go"), tracing)
	ctx, stop := context.WithCancel(t.Context())
	var out clustertest.Buffer
	root := newRootCommand()
	root.SetArgs([]string{"run", "04", "--view", "--no-open"})
	root.SetOut(&out)
	root.SetErr(&out)
	program.Prepare(root)
	end := make(chan error, 1)
	go func() { end <- root.ExecuteContext(ctx) }()
	for !strings.Contains(out.String(), "The view stays until Ctrl-C") {
		select {
		case err := <-end:
			t.Fatalf("it has ended: %v\n%s", err, out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	found := regexp.MustCompile(`The view: (http://\S+/)(\S+)`).FindStringSubmatch(out.String())
	require.NotNil(t, found, out.String())
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
	stop()
	assert.Equal(t, program.Exit(1), <-end)
}
