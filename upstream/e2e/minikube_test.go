package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"orrery/upstream/controlplane"
)

// standIn replaces minikube, which these tests do not have: a program of that name passes its
// arguments to the test, which starts a control plane instead of a virtual machine.
type standIn struct {
	t         *testing.T
	directory string // with the program and two named pipes

	// serve owns the fields below until it has ended.
	calls  []string
	server *controlplane.ControlPlane
}

// standInProgram sends its arguments through one pipe and reads its output, or "failed", from the
// other.
const standInProgram = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
printf '%s\n' "$*" >calls
read -r answer <answers
[ "$answer" != failed ] || exit 1
printf '%s\n' "$answer"
`

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, directory: t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(s.directory, "minikube"), []byte(standInProgram), 0o755))
	for _, pipe := range []string{"calls", "answers"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(s.directory, pipe), 0o600))
	}
	kubectl := repositoryFile(t, filepath.Join("bin", "kubectl"))
	require.NoError(t, os.Symlink(kubectl, filepath.Join(s.directory, "kubectl")))
	return s
}

// serve answers calls until an empty one, and returns the errors.
func (s *standIn) serve(kubeconfig string) (failures error) {
	for {
		call, err := os.ReadFile(filepath.Join(s.directory, "calls"))
		if err != nil || len(call) == 0 {
			return errors.Join(failures, err)
		}
		s.calls = append(s.calls, strings.TrimSpace(string(call)))
		answer, err := s.answer(strings.Fields(string(call)), kubeconfig)
		if err != nil {
			answer = "failed"
		}
		failures = errors.Join(failures, err, os.WriteFile(filepath.Join(s.directory, "answers"),
			[]byte(answer+"\n"), 0))
	}
}

func (s *standIn) answer(words []string, kubeconfig string) (string, error) {
	switch {
	case words[0] == "profile":
		return `{"invalid":[],"valid":[{"Name":"minikube","Status":"Running"}]}`, nil
	case words[0] == "start":
		return "Done! kubectl is now configured to use the cluster", s.start(words, kubeconfig)
	case words[0] == "delete" && s.server != nil:
		server := s.server
		s.server = nil
		return "Removed all traces of the cluster", server.Stop()
	}
	return "", fmt.Errorf("minikube %s was not expected", strings.Join(words, " "))
}

// start starts a control plane with the controllers that --extra-config names, and adds it to the
// kubeconfig as minikube does.
func (s *standIn) start(words []string, kubeconfig string) (err error) {
	const option = "--extra-config=controller-manager.controllers="
	var controllers []string
	for _, word := range words {
		if list, ok := strings.CutPrefix(word, option); ok {
			controllers = strings.Split(list, ",")
		}
	}
	s.server, err = controlplane.Start(s.t.Context(), controlplane.Config{Controllers: controllers, Log: s.t.Output()})
	if err != nil {
		return err
	}
	config, err := clientcmd.LoadFromFile(s.server.Kubeconfig())
	if err != nil {
		return err
	}
	config.Contexts = map[string]*clientcmdapi.Context{"orrery-try": config.Contexts[config.CurrentContext]}
	config.CurrentContext = "orrery-try"
	return clientcmd.WriteToFile(*config, kubeconfig)
}

// The script of "make minikube" as a whole, with a genuine kubectl and orrery and the stand-in for
// minikube.
func TestMinikubeScript(t *testing.T) {
	t.Parallel()
	reserveCluster(t)
	s := newStandIn(t)
	// The script writes to build/ in the directory above its own: here a temporary one.
	place := t.TempDir()
	for _, name := range []string{"deploy/minikube.sh", "bin/orrery"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(place, name)), 0o755))
		require.NoError(t, os.Symlink(repositoryFile(t, name), filepath.Join(place, name)))
	}
	served := make(chan error, 1)
	go func() { served <- s.serve(filepath.Join(place, "build", "minikube.kubeconfig")) }()
	command := exec.CommandContext(t.Context(), filepath.Join(place, "deploy", "minikube.sh"))
	command.Env = append(os.Environ(), "PATH="+s.directory+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PROFILE=orrery-try", "PROOF_SECONDS=8", "WAIT_SECONDS=600", "KEEP=", "MINIKUBE_ARGS=--driver=none")
	said, err := command.CombinedOutput()
	require.NoError(t, os.WriteFile(filepath.Join(s.directory, "calls"), nil, 0)) // no more calls
	require.NoError(t, <-served)
	t.Logf("%s", said)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"profile list -o json",
		"start -p orrery-try --extra-config=controller-manager.controllers=" +
			"*,bootstrapsigner,tokencleaner,-namespace --driver=none",
		"delete -p orrery-try",
	}, s.calls)
	assert.Contains(t, string(said), "orrery-proof: Terminating, spec.finalizers [\"kubernetes\"]")
	assert.Contains(t, string(said), "done: the namespace hung without a namespace controller, and went with orrery")
	assert.NoFileExists(t, filepath.Join(place, "build", "minikube.kubeconfig"))
}
