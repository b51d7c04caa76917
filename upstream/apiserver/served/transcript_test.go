package served_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// transcript is a session at a terminal.
type transcript struct {
	name string
	head string // text before the first command
	acts []act
}

// act is a command with its output.
type act struct{ command, output string }

func readTranscripts(t *testing.T) []*transcript {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var all []*transcript
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all = append(all, parseTranscript(strings.TrimSuffix(filepath.Base(path), ".txt"), string(text)))
	}
	return all
}

func parseTranscript(name, text string) *transcript {
	tr := &transcript{name: name}
	typing := false
	for line := range strings.Lines(text) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case isCommand:
			tr.acts = append(tr.acts, act{command: command})
			typing = true
		case len(tr.acts) == 0:
			tr.head += line
		case isMore && typing:
			tr.acts[len(tr.acts)-1].command += more
		default:
			tr.acts[len(tr.acts)-1].output += line
			typing = false
		}
	}
	for i := range tr.acts {
		tr.acts[i].output = strings.TrimRight(tr.acts[i].output, "\n")
	}
	return tr
}

// String returns the text that parseTranscript reads.
func (tr *transcript) String() string {
	var text strings.Builder
	text.WriteString(strings.TrimRight(tr.head, "\n") + "\n")
	for _, act := range tr.acts {
		prompt := "\n$ "
		for line := range strings.Lines(act.command) {
			text.WriteString(prompt + line)
			prompt = "> "
		}
		if act.output != "" {
			text.WriteString(act.output + "\n")
		}
	}
	return text.String()
}

// terminal runs commands in a shell with one kubectl and one server.
type terminal struct {
	dir         string // an empty home
	environment []string
}

func newTerminal(t *testing.T, kubectl, kubeconfig string) *terminal {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	require.NoError(t, os.Symlink(kubectl, filepath.Join(bin, "kubectl")))
	return &terminal{dir: dir, environment: []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + kubeconfig, "LC_ALL=C",
		"EXAMPLES=" + examples(t),
		"KUBE_EDITOR=sed -i s/colour:.green/colour:\\ blue/",
	}}
}

// examples returns the directory of the examples, whose files transcripts apply.
func examples(t *testing.T) string {
	found, err := controlplane.FindUp(filepath.Join("examples", "virtualmachine", "crd.yaml"))
	require.NoError(t, err)
	return filepath.Dir(filepath.Dir(found))
}

// play runs the commands of a transcript and returns it with their output.
func (term *terminal) play(ctx context.Context, tr *transcript) (*transcript, error) {
	played := &transcript{name: tr.name, head: tr.head}
	for _, a := range tr.acts {
		output, err := term.run(ctx, a.command)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.command, err)
		}
		played.acts = append(played.acts, act{a.command, output})
	}
	return played, nil
}

// run runs one command. A non-zero exit code becomes the last line of the output.
func (term *terminal) run(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Dir = term.dir
	shell.Env = term.environment
	shell.WaitDelay = time.Second
	output, err := shell.CombinedOutput()
	text := maskOutput(string(output))
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("did not end: %w\n%s", ctx.Err(), text)
	case errors.As(err, &status):
		text += fmt.Sprintf("\n(status %d)", status.ExitCode())
	case err != nil:
		return "", err
	}
	return strings.Trim(text, "\n"), nil
}

// masks replace what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`(CreationTimestamp: +)\w{3}, .*`), "${1}<time>"},
	{regexp.MustCompile(`(resourceVersion"?: ?)"\d+"`), "${1}<version>"},
	{regexp.MustCompile(`(Resource Version: +)\d+`), "${1}<version>"},
	{regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b`), "<address>"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<server>"},
	{regexp.MustCompile(`(?m) \d+[smh](\d+[sm])? *$`), " <age>"},
	{regexp.MustCompile(` \d+[smh](\d+[sm])? +([a-z<])`), " <age> ${2}"},
	// kubectl 1.32 prints these, later ones do not, and vice versa.
	{regexp.MustCompile(`(?m)^ *creationTimestamp: null\n`), ""},
	{regexp.MustCompile(`(?m)^WARNING: version difference .*\n`), ""},
	{regexp.MustCompile(`" deleted from \S+ namespace`), "\" deleted"},
	// Columns are as wide as their widest value, which may be an address or an age.
	{regexp.MustCompile(` {3,}`), "   "},
	{regexp.MustCompile(`(?m) +$`), ""},
}

func maskOutput(text string) string {
	for _, mask := range masks {
		text = mask.pattern.ReplaceAllString(text, mask.with)
	}
	return text
}

func TestTranscriptIsReadAsItIsWritten(t *testing.T) {
	text := "# About\n# this.\n\n$ echo a\na\n\n  b\n\n$ cat <<END\n> x\n> END\nx\n\n$ true\n"
	tr := parseTranscript("x", text)
	require.Equal(t, []act{{"echo a\n", "a\n\n  b"}, {"cat <<END\nx\nEND\n", "x"}, {"true\n", ""}}, tr.acts)
	require.Equal(t, text, tr.String())
}

func TestOutputIsMasked(t *testing.T) {
	require.Equal(t, "a   Active   <age>\nuid: <uid> at <time>\n   resourceVersion: <version>",
		maskOutput("a    Active   4m5s\nuid: 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 at 2026-01-02T03:04:05Z\n   "+
			"resourceVersion: \"17\""))
}

// kubectls returns the programs of this machine, the one of this Kubernetes version first.
func kubectls(t *testing.T, built string) []string {
	found := []string{built}
	if path, err := exec.LookPath("kubectl"); err == nil {
		path, err = filepath.Abs(path)
		require.NoError(t, err)
		found = append(found, path)
	}
	return slices.Compact(found)
}
