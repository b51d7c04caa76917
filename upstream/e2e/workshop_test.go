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
	repository := copyOfRepository(t)
	onEachVacant(t, func(tr *trial, _ string) {
		t := tr.t
		run := func(args ...string) string { return runLab(t, repository, args...) }
		run("start", "08")
		require.Equal(t, 1, solve(t, filepath.Join(repository, "workshop", "work", "08-work-queue")))
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

		interrupted := labCommand(t, repository, onCluster...)
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

// A runtime that consists of the pages of all labs, which here are the reference's, passes the
// official specs.
func TestARuntimeOfLearnersPagesPassesTheOfficialSpecs(t *testing.T) {
	repository := copyOfRepository(t)
	labs, err := os.ReadDir(filepath.Join(repository, "workshop", "labs"))
	require.NoError(t, err)
	for _, lab := range labs {
		id, _, _ := strings.Cut(lab.Name(), "-")
		runLab(t, repository, "start", id)
		folder := filepath.Join(repository, "workshop", "work", lab.Name())
		if solve(t, folder) > 0 {
			runLab(t, repository, "test", id)
		}
	}
	binary := filepath.Join(repository, "mine")
	runLab(t, repository, "run", "--all", "--build", binary)
	subject := Orrery()
	here, err := os.Getwd()
	require.NoError(t, err)
	subject.Name = "learner"
	subject.Binary, err = filepath.Rel(here, binary)
	require.NoError(t, err)
	orrery := subject.Args
	subject.Args = func(kubeconfig string) []string { return append(orrery(kubeconfig), "--gears=textbook") }
	t.Parallel() // only now: steps of labs have time limits
	passOfficialSpecs(t, Kubernetes(), subject)
}

// solve writes the reference's pages over those of a started lab, and returns their number.
func solve(t *testing.T, folder string) (pages int) {
	t.Helper()
	reference := filepath.Join(folder, ".base")
	if _, err := os.Stat(reference); os.IsNotExist(err) {
		return 0 // a lab without a page
	}
	require.NoError(t, filepath.WalkDir(reference, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		pages++
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return os.WriteFile(filepath.Join(folder, strings.TrimPrefix(file, reference)), text, 0o644)
	}))
	return pages
}

// labCommand returns a command of the workshop in a repository. It tests without the race detector,
// as on a machine without a C compiler.
func labCommand(t *testing.T, repository string, args ...string) *exec.Cmd {
	t.Helper()
	lab, err := controlplane.FindUp(filepath.Join("bin", "lab"))
	require.NoError(t, err)
	command := exec.Command(lab, args...)
	command.Dir = repository
	command.Env = append(os.Environ(), "LC_ALL=C", "CGO_ENABLED=0")
	return command
}

// runLab runs a command of the workshop, which must succeed, and returns what it printed.
func runLab(t *testing.T, repository string, args ...string) string {
	t.Helper()
	output, err := labCommand(t, repository, args...).CombinedOutput()
	require.NoError(t, err, "lab %s:\n%s", strings.Join(args, " "), output)
	return string(output)
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
