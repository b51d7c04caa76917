package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

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

// runLab runs a command of the workshop in a repository, which must succeed. It tests without the
// race detector, as on a machine without a C compiler.
func runLab(t *testing.T, repository string, args ...string) {
	t.Helper()
	lab, err := controlplane.FindUp(filepath.Join("bin", "lab"))
	require.NoError(t, err)
	command := exec.Command(lab, args...)
	command.Dir = repository
	command.Env = append(os.Environ(), "LC_ALL=C", "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "lab %s:\n%s", strings.Join(args, " "), output)
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
