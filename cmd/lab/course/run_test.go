package course

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
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
	"orrery/internal/observe/web/view"
)

func TestWrongUsageOfRun(t *testing.T) {
	begun(t, labtest.Reference)
	for want, args := range map[string]string{
		`--scene and --bench exclude each other (see "lab run --help")`: "04 --scene --bench",
		`--keep and --build exclude each other (see "lab run --help")`:  "04 --keep --build x",
		`--keep and --scene exclude each other (see "lab run --help")`:  "04 --keep --scene",
		`there is no benchmark for this; labs with one: `:               "04 --bench",
		`lab 04 has no scene; "lab demo --help" lists all scenes`:       "04 --scene",
		`--view and --build exclude each other`:                         "04 --view --build x",
		`--view and --bench exclude each other`:                         "04 --view --bench",
		`--view-port needs --view`:                                      "04 --view-port 7071",
		`--no-open needs --view`:                                        "04 --no-open",
		`--view-port must be between 1 and 65535, not 65536`:            "04 --view --view-port 65536",
		`no lab has passed yet; "lab list" shows them`:                  "--all",
		`which lab? "lab list" shows them; for example: lab run 08`:     "",
	} {
		code, _, stderr := lab(t, append([]string{"run"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, code, args)
		assert.Contains(t, stderr, "lab: "+want, args)
	}
}

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

func TestTheFormOfAPageInTheBenchmark(t *testing.T) {
	assert.Equal(t, "textbook", benchForm(course.Run{}))
	assert.Equal(t, "inorder", benchForm(course.Run{Gears: "textbook,deltafifo=inorder"}))
}

func TestAllUsesThePagesThatRun(t *testing.T) {
	page := func(path, gears, program string) *course.Lab {
		lab := &course.Lab{ID: path, Name: path, Files: []course.File{{Path: path}}}
		lab.Run = course.Run{Gears: gears, Program: program}
		return lab
	}
	queue, fifo := page("queue/queue.go", "textbook", ""), page("deltafifo/fifo.go", "", "")
	inorder, machines := page("deltafifo/inorder/fifo.go", "textbook,deltafifo=inorder", ""), page("examples/m/c.go", "", "examples/m")
	harness := page("internal/lab/bench/p.go", "", "cmd/lab")
	for _, c := range []struct {
		run, lab *course.Lab
		want     bool
	}{
		{queue, fifo, true}, {fifo, queue, true}, {queue, inorder, false}, {inorder, fifo, false}, {inorder, queue, true},
		{inorder, inorder, true}, {queue, machines, false}, {machines, queue, false},
		{harness, queue, true}, {queue, harness, false}, {harness, inorder, false},
	} {
		s := &session{folder: course.FolderIn(t.TempDir()), labs: []*course.Lab{c.lab}}
		require.NoError(t, os.MkdirAll(s.folder.Of(c.lab), 0o700))
		require.NoError(t, s.update(c.lab, func(p *course.LabProgress) { p.Passed = time.Now() }))
		used, err := s.passed(&choice{run: c.run.Run})
		require.NoError(t, err)
		assert.Equal(t, c.want, len(used) == 1, "the run of %s uses the page %s", c.run.ID, c.lab.ID)
	}
}

func TestMain(m *testing.M) {
	os.Unsetenv("KUBECONFIG") // no test uses the machine's cluster
	os.Exit(m.Run())
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

// page is a run of "lab run --view" and what its page has.
type page struct {
	t    *testing.T
	out  clustertest.Buffer
	stop context.CancelFunc
	end  chan error
}

var addressForm = regexp.MustCompile(`The view: (http://\S+)`)

// openPage starts a command and waits until its page stays.
func openPage(t *testing.T, args ...string) *page {
	t.Helper()
	p := &page{t: t, end: make(chan error, 1)}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(t.Context())
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&p.out)
	root.SetErr(&p.out)
	program.Prepare(root)
	go func() { p.end <- root.ExecuteContext(ctx) }()
	t.Cleanup(p.stop)
	for !strings.Contains(p.out.String(), "The view stays until Ctrl-C") {
		select {
		case err := <-p.end:
			t.Fatalf("it has ended: %v\n%s", err, p.out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return p
}

// get returns what the page's server has at a path.
func (p *page) get(path string, more url.Values) string {
	p.t.Helper()
	found := addressForm.FindStringSubmatch(p.out.String())
	require.NotNil(p.t, found, p.out.String())
	address, err := url.Parse(found[1])
	require.NoError(p.t, err)
	query := address.Query()
	for name, values := range more {
		query[name] = values
	}
	address.Path, address.RawQuery = path, query.Encode()
	answer, err := http.Get(address.String())
	require.NoError(p.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, 200, answer.StatusCode, "%s", text)
	return string(text)
}

// The page shows the run of the controller, to its end: that of a solution says what is yours, and
// the last line of one that is not written is its panic. The page stays until a signal.
func TestRunShowsTheView(t *testing.T) {
	for name, c := range map[string]struct {
		page, reason string
		code         int
	}{
		"the solution": {labtest.Reference, `"reason":"stopped"`, 0},
		"a stub":       {adding(unwritten), `"reason":"panic: lab 04: Counter.Add is yours to write"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := begun(t, c.page)
			labtest.Write(t, filepath.Join(dir, "cmd/orrery/main.go"), tracing)
			p := openPage(t, "run", "04", "--view", "--no-open")

			lines := strings.Split(strings.TrimSpace(p.get("/trace", nil)), "\n")
			assert.Contains(t, lines[0], `"run":"lab run","mode":"lab"`)
			assert.Contains(t, lines[0], `"workers":3,"yours":["gear/counter.go"]`)
			assert.Contains(t, lines[len(lines)-2], `"e":"queue.added"`)
			assert.Contains(t, lines[len(lines)-1], `"e":"trace.end",`+c.reason)
			var code map[string]view.Place
			require.NoError(t, json.Unmarshal([]byte(p.get("/code", url.Values{"gears": {"textbook"}})), &code))
			assert.Equal(t, "queue/queue.go", code["queue.got"].File)

			p.stop()
			err := <-p.end
			if c.code == 0 {
				assert.NoError(t, err)
			} else {
				assert.Equal(t, program.Exit(c.code), err)
			}
		})
	}
}

func TestTheViewShowsOrreryRunOnly(t *testing.T) {
	dir := begun(t, labtest.Reference)
	labtest.Replace(t, filepath.Join(dir, "workshop/labs/04-counter/lab.yaml"), "hints:", "run: {program: cmd/orrery}\nhints:")
	code, _, stderr := lab(t, "run", "04", "--view")
	assert.Equal(t, 2, code)
	assert.Equal(t, "lab: lab 04 runs a program of its own, and the view shows orrery run\n", stderr)
}
