package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// program is one run of bin/orrery with its output.
type program struct {
	*controlplane.Process

	t       *testing.T
	logFile string
}

// runOrrery starts "orrery run" as the user of a kubeconfig file and kills it at the end of the
// test.
func runOrrery(t *testing.T, kubeconfig string, args ...string) *program {
	t.Helper()
	p := &program{t: t, logFile: filepath.Join(t.TempDir(), "orrery.log")}
	var err error
	p.Process, err = Orrery().start(kubeconfig, p.logFile, args...)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("orrery run %s printed:\n%s", strings.Join(args, " "), p.Output())
		}
	})
	return p
}

// Output returns the output so far.
func (p *program) Output() string {
	p.t.Helper()
	data, err := os.ReadFile(p.logFile)
	require.NoError(p.t, err)
	return string(data)
}

// lastLine returns the last line of the output.
func (p *program) lastLine() string {
	lines := strings.Split(strings.TrimSpace(p.Output()), "\n")
	return lines[len(lines)-1]
}

// AwaitOutput blocks until a line contains all the parts.
func (p *program) AwaitOutput(parts ...string) {
	p.t.Helper()
	eventually(p.t, "orrery prints "+strings.Join(parts, " ... "), p.Done(), func() (bool, error) {
		return p.printed(parts), nil
	})
}

// RequireOutput checks that a line contains all the parts.
func (p *program) RequireOutput(parts ...string) {
	p.t.Helper()
	require.True(p.t, p.printed(parts), "no line contains %q", parts)
}

func (p *program) printed(parts []string) bool {
	p.t.Helper()
	for line := range strings.Lines(p.Output()) {
		lacks := func(part string) bool { return !strings.Contains(line, part) }
		if !slices.ContainsFunc(parts, lacks) {
			return true
		}
	}
	return false
}

// exitInterrupted is the exit code after Ctrl-C, the first or the second.
const exitInterrupted = 130

// Interrupt sends Ctrl-C.
func (p *program) Interrupt() { p.Signal(syscall.SIGINT) }

// Running reports whether the program still runs.
func (p *program) Running() bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// AwaitExit waits for the program to end and returns its exit code.
func (p *program) AwaitExit() int {
	p.t.Helper()
	eventually(p.t, "orrery ends", nil, func() (bool, error) { return !p.Running(), nil })
	return p.ExitCode()
}
