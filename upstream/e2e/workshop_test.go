package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/upstream/controlplane"
)

// A learner's work queue, which here is the reference, works on a cluster: "lab run" creates
// namespaces, the controller deletes them through the proxy, and nothing is left, also after Ctrl-C.
func TestALearnersControllerWorks(t *testing.T) {
	lab, err := controlplane.FindUp(filepath.Join("bin", "lab"))
	require.NoError(t, err)
	repository := copyOfRepository(t)
	onEachVacant(t, func(tr *trial, _ string) {
		t := tr.t
		command := func(args ...string) *exec.Cmd {
			command := exec.Command(lab, args...)
			command.Dir = repository
			command.Env = append(os.Environ(), "LC_ALL=C")
			return command
		}
		run := func(args ...string) string {
			output, err := command(args...).CombinedOutput()
			require.NoError(t, err, "lab %s:\n%s", strings.Join(args, " "), output)
			return string(output)
		}
		run("start", "08")
		const page = "queue/queue.go"
		reference, err := os.ReadFile(filepath.Join(repository, page))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(repository, "workshop/work/08-work-queue", page), reference, 0o644))
		run("test", "08")

		tr.createNamespace("bystander")
		tr.createConfigMap("bystander", "content")
		before := namespaceNames(tr)
		onCluster := []string{"run", "08", "--server", "kubeconfig", "--kubeconfig", tr.cluster.Kubeconfig(), "--yes"}
		said := run(onCluster...)
		assert.Contains(t, said, "all 5 namespaces are gone")
		assert.Contains(t, said, "The outcome is as it should be.")
		assert.NotContains(t, said, "the proxy refused")
		assert.NotContains(t, said, "removing what is left")
		assert.Equal(t, before, namespaceNames(tr))
		assert.Contains(t, tr.content("bystander")["configmaps"], "content")

		interrupted := command(onCluster...)
		output, err := interrupted.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, interrupted.Start())
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if strings.Contains(lines.Text(), "creating 5 namespaces") {
				require.NoError(t, interrupted.Process.Signal(os.Interrupt))
			}
		}
		_ = interrupted.Wait()
		assert.Equal(t, exitInterrupted, interrupted.ProcessState.ExitCode())
		assert.Equal(t, before, namespaceNames(tr))
	})
}

// namespaceNames returns the names of all namespaces.
func namespaceNames(tr *trial) (names []string) {
	tr.t.Helper()
	list, err := tr.client.CoreV1().Namespaces().List(tr.ctx, metav1.ListOptions{})
	require.NoError(tr.t, err)
	for _, namespace := range list.Items {
		names = append(names, namespace.Name)
	}
	slices.Sort(names)
	return names
}

// copyOfRepository copies the files of the repository that git knows or would add, so that the test
// does not touch a learner's workshop/work.
func copyOfRepository(t *testing.T) (dir string) {
	t.Helper()
	file, err := controlplane.FindUp("workshop/README.md")
	require.NoError(t, err)
	root := filepath.Dir(filepath.Dir(file))
	command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = root
	output, err := command.Output()
	require.NoError(t, err)
	dir = t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(string(output), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	return dir
}
