package served_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
)

// TestTheFirstHour runs the commands of docs/learn/first-hour.md in order and compares their output
// with the page. It starts the server and the controller, which the page starts in other terminals.
// Two things differ from the page: the controller's port is a free one, and the demo, which has its
// own server, runs in parallel.
func TestTheFirstHour(t *testing.T) {
	t.Parallel()
	root, err := controlplane.FindUp(filepath.Join("docs", "learn", "first-hour.md"))
	require.NoError(t, err)
	text, err := os.ReadFile(root)
	require.NoError(t, err)
	h := &hour{t: t, root: filepath.Dir(filepath.Dir(filepath.Dir(root))), port: strconv.Itoa(programtest.FreePort(t))}
	server, err := served.Start(t.Context(), served.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	h.environment = append(os.Environ(), "KUBECONFIG="+server.Kubeconfig(), "LC_ALL=C",
		"PATH="+h.tools()+":"+os.Getenv("PATH"))

	typed, started := 0, map[string]bool{}
	var demos sync.WaitGroup
	defer demos.Wait()
	for _, block := range fencedBlocks(string(text)) {
		for _, a := range parseTranscript("", block).acts {
			command := strings.TrimSpace(a.command)
			typed++
			if strings.HasPrefix(command, "bin/lab demo ") {
				demos.Go(func() { assert.Equal(t, unchanging(a.output), unchanging(h.run(command)), command) })
				continue
			}
			h.check(command, a.output)
		}
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "make ") || strings.HasPrefix(line, "bin/") {
				started[line] = true
			}
			if command, ok := strings.CutPrefix(line, "bin/orrery run "); ok {
				h.control(strings.Fields(command))
			}
		}
	}
	assert.Equal(t, map[string]bool{"make build": true, "bin/lab serve": true, "bin/orrery run --gears textbook": true},
		started)
	assert.Equal(t, 16, typed)
}

// hour is a reader's environment: a repository, a server and a controller.
type hour struct {
	t           *testing.T
	root        string
	port        string // of the controller's debug server
	environment []string
}

// tools returns a directory with kubectl, and with a curl if this machine has none.
func (h *hour) tools() string {
	dir := h.t.TempDir()
	require.NoError(h.t, os.Symlink(filepath.Join(h.root, "bin", "kubectl"), filepath.Join(dir, "kubectl")))
	if _, err := exec.LookPath("curl"); err != nil {
		this, err := os.Executable()
		require.NoError(h.t, err)
		require.NoError(h.t, os.Symlink(this, filepath.Join(dir, "curl")))
	}
	return dir
}

// curl is "curl -s URL".
func curl(arguments []string) error {
	answer, err := http.Get(arguments[len(arguments)-1])
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// control runs the controller until the test ends.
func (h *hour) control(arguments []string) {
	controller := exec.Command(filepath.Join(h.root, "bin", "orrery"),
		append([]string{"run", "--metrics-port=" + h.port}, arguments...)...)
	controller.Env, controller.Stdout, controller.Stderr = h.environment, h.t.Output(), h.t.Output()
	require.NoError(h.t, controller.Start())
	h.t.Cleanup(func() {
		require.NoError(h.t, controller.Process.Signal(os.Interrupt))
		_ = controller.Wait()
	})
}

// run runs a command and returns its output.
func (h *hour) run(command string) string {
	shell := exec.CommandContext(h.t.Context(), "sh", "-c",
		strings.ReplaceAll(command, "localhost:8081", "localhost:"+h.port))
	shell.Dir, shell.Env = h.root, h.environment
	output, err := shell.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s(%v)", output, err)
	}
	return string(output)
}

// check runs a command. It repeats a query until the output is the page's, since its subject may
// still change.
func (h *hour) check(command, want string) {
	asks := strings.HasPrefix(command, "curl ") || strings.HasPrefix(command, "kubectl get ")
	began := time.Now()
	for {
		got := h.run(command)
		if !asks || unchanging(got) == unchanging(want) || time.Since(began) > waitTimeout {
			assert.Equal(h.t, unchanging(want), unchanging(got), command)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// changing matches what differs from run to run, beside the transcripts' masks.
var changing = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?m)^ *\d+\.\d s `), "<moment> "},
	{regexp.MustCompile(` *\d+(\.\d+)? [kM]?/s`), " <rate>"},
	{regexp.MustCompile(`\t(\(cached\)|\d+\.\d+s)`), "\t<time>"},
	{regexp.MustCompile(`"in":"[0-9.]+m?s"`), `"in":"<time>"`},
	{regexp.MustCompile(`"handled":\d+`), `"handled":<number>`},
}

// unchanging returns the stable lines of an output, sorted, since two informers log in any order.
func unchanging(output string) string {
	for _, c := range changing {
		output = c.pattern.ReplaceAllString(output, c.with)
	}
	lines := strings.Split(strings.TrimSpace(maskOutput(output)), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// fencedBlocks returns a document's blocks of code that are not Go.
func fencedBlocks(text string) (blocks []string) {
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 && !strings.HasPrefix(part, "go\n") {
			blocks = append(blocks, part)
		}
	}
	return blocks
}
