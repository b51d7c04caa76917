package house_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// minikubeScript is deploy/minikube.sh with fake programs: a cluster is the file "cluster", its
// namespace the file "namespace". upstream/e2e runs it with real kubectl and orrery.
type minikubeScript struct {
	t    *testing.T
	root string
}

func newMinikubeScript(t *testing.T) minikubeScript {
	s := minikubeScript{t, t.TempDir()}
	text, err := os.ReadFile(filepath.Join(root, "deploy", "minikube.sh"))
	require.NoError(t, err)
	s.write("deploy/minikube.sh", string(text), 0o755)
	s.program("sleep", `echo "slept $1"`)
	// PATH has only what the script needs, so that a program can be missing.
	for _, name := range []string{"bash", "cat", "dirname", "grep", "mkdir", "rm", "sh", "touch"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(s.root, "fake", name)))
	}
	pause, err := exec.LookPath("sleep") // the real one, not the fake that returns at once
	require.NoError(t, err)
	require.NoError(t, os.Symlink(pause, filepath.Join(s.root, "fake", "nap")))
	s.program("minikube", `echo "$*" >>calls
case $1 in
profile) cat profiles || exit 141; exit "$(cat profiles.code)" ;;
start) touch cluster ;;
delete) rm cluster ;;
esac`)
	s.program("kubectl", `case "$*" in
"create namespace"*) touch namespace ;;
"get namespace"*name) [ ! -e namespace ] || echo namespace/orrery-proof ;;
"get namespace"*) echo "orrery-proof: Terminating" ;;
esac`)
	s.orrery(`echo "orrery $*" >>calls; rm namespace`, 0)
	s.profiles(`{"invalid":[],"valid":[{"Name":"minikube","Status":"Running"}]}`, 0)
	return s
}

// program writes a fake program: the lines of a shell script.
func (s minikubeScript) program(name, lines string) {
	s.write(filepath.Join("fake", name), "#!/bin/sh\n"+lines+"\n", 0o755)
}

func (s minikubeScript) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), mode))
}

// profiles sets what "minikube profile list" prints, and its exit code.
func (s minikubeScript) profiles(list string, code int) {
	s.write("profiles", list, 0o644)
	s.write("profiles.code", fmt.Sprint(code), 0o644)
}

// minikube writes a fake program that lists the profiles and then runs this line.
func (s minikubeScript) minikube(does string) {
	s.program("minikube", "echo \"$*\" >>calls; [ $1 != profile ] || exec cat profiles\n"+does)
}

// orrery writes a fake program that runs these lines and then runs until it is stopped.
func (s minikubeScript) orrery(does string, code int) {
	s.program("../bin/orrery", fmt.Sprintf("nap 600 &\ntrap \"kill $!; exit %d\" TERM\n%s\nwait", code, does))
}

// run returns the script's output, its exit code, and the calls of minikube and orrery.
func (s minikubeScript) run(environment ...string) (said string, code int, calls []string) {
	s.t.Helper()
	command := exec.Command(filepath.Join(s.root, "deploy", "minikube.sh"))
	command.Env = append([]string{"PATH=" + filepath.Join(s.root, "fake"), "PROOF_SECONDS=3", "WAIT_SECONDS=1000000"},
		environment...)
	output, _ := command.CombinedOutput() // the exit code is checked
	text, err := os.ReadFile(filepath.Join(s.root, "calls"))
	if !os.IsNotExist(err) {
		require.NoError(s.t, err)
		calls = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	return string(output), command.ProcessState.ExitCode(), calls
}

const (
	minikubeList   = "profile list -o json"
	minikubeStart  = "start -p orrery --extra-config=controller-manager.controllers=*,bootstrapsigner,tokencleaner,-namespace"
	minikubeDelete = "delete -p orrery"
	minikubeRun    = "orrery run --context orrery --leader-elect=false --metrics-port=0"
)

func TestMinikubeStepByStep(t *testing.T) {
	s := newMinikubeScript(t)
	said, code, calls := s.run()
	require.Zero(t, code, said)
	assert.Equal(t, []string{minikubeList, minikubeStart, minikubeRun, minikubeDelete}, calls)
	at := 0
	for _, step := range []string{
		"looking for what is needed", "minikube start -p orrery", "creating the namespace", "watching it for 3 s",
		"Terminating",
		"bin/orrery run", "the namespace has gone", "stopping orrery", "done: the namespace hung",
		"minikube delete -p orrery",
	} {
		next := strings.Index(said[at:], step)
		require.GreaterOrEqual(t, next, 0, "%q is missing or too early in:\n%s", step, said)
		at += next
	}
	assert.NoFileExists(t, filepath.Join(s.root, "cluster"))
	assert.NoFileExists(t, filepath.Join(s.root, "build", "minikube.kubeconfig"))
}

func TestMinikubeKeepsTheClusterOnRequest(t *testing.T) {
	s := newMinikubeScript(t)
	said, code, calls := s.run("KEEP=1", "PROFILE=other", "MINIKUBE_ARGS=--driver=podman --nodes=2")
	require.Zero(t, code, said)
	assert.NotContains(t, calls, "delete -p other")
	assert.Contains(t, calls, strings.Replace(minikubeStart, "orrery", "other", 1)+" --driver=podman --nodes=2")
	assert.FileExists(t, filepath.Join(s.root, "cluster"))
	// Without a namespace controller the cluster keeps every namespace that is deleted from now on.
	assert.Contains(t, said, "no namespace goes")
	assert.Contains(t, said, "bin/orrery run --context other --leader-elect=false", "the command that lets them go")
	assert.Contains(t, said, "minikube delete -p other", "the command that removes the cluster")
	assert.NotContains(t, said, "--context orrery", "every command is for this profile")
}

// On any failure the script reports it, and deletes the profile if it created it.
func TestMinikubeFailsClearly(t *testing.T) {
	type change = func(minikubeScript)
	without := func(file string) change { return func(s minikubeScript) { s.remove(file) } }
	lists := func(text string, code int) change { return func(s minikubeScript) { s.profiles(text, code) } }
	fake := func(name, lines string) change { return func(s minikubeScript) { s.program(name, lines) } }
	minikube := func(does string) change { return func(s minikubeScript) { s.minikube(does) } }
	orrery := func(does string, code int) change { return func(s minikubeScript) { s.orrery(does, code) } }
	// The list is longer than a pipe holds: minikube dies if the script stops reading at the name.
	long := "{\"valid\": [\n{\"Name\": \"orrery\"},\n" + strings.Repeat("{\"Name\": \"another\"},\n", 20_000) + "]}"
	for _, c := range []struct {
		name    string
		change  change
		code    int
		says    string
		started bool
	}{
		{"no minikube", without("fake/minikube"), 1, "minikube is not installed", false},
		{"no kubectl", without("fake/kubectl"), 1, "kubectl is not installed", false},
		{"no orrery", without("bin/orrery"), 1, "there is no bin/orrery: run make build", false},
		{"the profile exists", lists(`{"invalid":[],"valid":[{"Name":"orrery","Status":"Stopped"}]}`, 0), 1,
			"minikube has a profile orrery already", false},
		{"its machine is gone", lists(`{"invalid":[{"Name":"orrery"}],"valid":[]}`, 0), 1,
			"minikube has a profile orrery already", false},
		{"among many", lists(long, 0), 1, "minikube has a profile orrery already", false},
		{"no list", lists(`{"error":{"Op":"open"}}`, 80), 1, `it said: {"error":{"Op":"open"}}`, false},
		{"an error as a list", lists(`{"error":{"Op":"open"}}`, 0), 1, "cannot list its profiles", false},
		{"an empty list", lists("", 0), 1, "cannot list its profiles", false},
		{"Ctrl-C while the profiles are listed", fake("minikube", `echo "$*" >>calls; kill -INT $PPID`), 130,
			"interrupted", false},
		{"minikube fails", minikube(`[ "$1" != start ]`), 1, "minikube did not start the cluster", true},
		{"Ctrl-C while minikube starts", minikube(`[ "$1" != start ] || kill -INT $PPID`), 130, "interrupted", true},
		{"Ctrl-C while orrery runs", orrery("kill -INT $PPID", 0), 130, "interrupted", true},
		{"the built-in controller is on", fake("kubectl", ""), 1, "the built-in controller is at work", true},
		{"the server does not answer", fake("kubectl", `[ "$1" != get ] || [ "$2" != namespace ]`), 1,
			"kubectl cannot read the namespace", true},
		{"orrery refuses", fake("../bin/orrery", `echo "another namespace controller works" >&2; exit 1`), 1,
			"orrery has ended by itself", true},
		{"orrery ends with an error", orrery("rm namespace", 3), 1, "orrery ended with an error", true},
		{"the profile stays", minikube(`[ "$1" != delete ]`), 1, "the profile could not be deleted", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newMinikubeScript(t)
			c.change(s)
			said, code, calls := s.run()
			assert.Equal(t, c.code, code, said)
			assert.Contains(t, said, c.says)
			if c.started {
				assert.Equal(t, minikubeDelete, calls[len(calls)-1])
				return
			}
			assert.NotContains(t, calls, minikubeStart)
			assert.NotContains(t, calls, minikubeDelete, "the profile is not ours")
		})
	}
}

// In grep's pattern, a name with a bracket would be an error that looks like "no such profile".
func TestMinikubeRefusesWhatIsNoName(t *testing.T) {
	for _, name := range []string{"a[", "--all", "a b", "a/b", `a"`} {
		s := newMinikubeScript(t)
		said, code, calls := s.run("PROFILE=" + name)
		assert.Equal(t, 1, code, said)
		assert.Contains(t, said, "is no name for a profile")
		assert.Empty(t, calls, "%q: minikube was asked to do something with what is no profile's name", name)
	}
	s := newMinikubeScript(t)
	s.profiles(`{"invalid":[],"valid":[{"Name":"a-b"}]}`, 0)
	said, code, _ := s.run("PROFILE=a.b")
	assert.Zero(t, code, "the profile a-b is not a.b: %s", said)
}

func (s minikubeScript) remove(name string) {
	s.t.Helper()
	require.NoError(s.t, os.Remove(filepath.Join(s.root, name)))
}
