package course_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

func TestALabBeginsWithAStubAndWhatIsAroundIt(t *testing.T) {
	repository := labtest.Repository(t)
	lab, folder := labtest.Lab(t, repository), course.FolderIn(repository)
	assert.False(t, folder.Started(lab))
	backup, err := folder.Start(lab)
	require.NoError(t, err)
	assert.Empty(t, backup)
	assert.True(t, folder.Started(lab))

	page, err := os.ReadFile(folder.Page(lab, labtest.Page))
	require.NoError(t, err)
	assert.Contains(t, string(page), "// Add adds n.\nfunc (c *Counter) Add(n int) {\n\tpanic(")
	base, err := os.ReadFile(folder.Base(lab, labtest.Page))
	require.NoError(t, err)
	assert.Equal(t, labtest.Reference, string(base))
	info, err := os.Stat(folder.Page(lab, "gear/other.go"))
	require.NoError(t, err)
	assert.Zero(t, info.Mode()&0o222, "a file to read cannot be written")
	assert.NoFileExists(t, folder.Page(lab, "gear/contract_test.go"))
	assert.FileExists(t, filepath.Join(folder.Dir, "AGENTS.md"), "an assistant that is opened in the folder reads it")
	module, err := os.ReadFile(filepath.Join(folder.Dir, "go.mod"))
	require.NoError(t, err)
	assert.Equal(t, "module orrery/workshop/work\n\ngo 1.26.0\n\nrequire orrery v0.0.0\n\nreplace orrery => ../..\n",
		string(module))
}

// If the stub cannot be made, what the learner has stays where it is.
func TestAnEarlierFolderIsKept(t *testing.T) {
	repository := labtest.Repository(t)
	lab, folder := labtest.Lab(t, repository), course.FolderIn(repository)
	_, err := folder.Start(lab)
	require.NoError(t, err)
	for _, want := range []string{"04-counter.bak-1", "04-counter.bak-2"} {
		mine := "package gear // before " + want
		labtest.Write(t, folder.Page(lab, labtest.Page), mine)
		backup, err := folder.Start(lab)
		require.NoError(t, err)
		assert.Equal(t, want, filepath.Base(backup))
		kept, err := os.ReadFile(filepath.Join(backup, labtest.Page))
		require.NoError(t, err)
		assert.Equal(t, mine, string(kept))
	}
	lab.Files[0].Write = []string{"Counter.Nonsense"}
	_, err = folder.Start(lab)
	assert.ErrorContains(t, err, "gear/counter.go: there is no function Counter.Nonsense")
	assert.True(t, folder.Started(lab))
}

func TestProgressSurvives(t *testing.T) {
	folder := course.FolderIn(labtest.Repository(t))
	progress, err := folder.Progress()
	require.NoError(t, err)
	assert.Empty(t, progress)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 2 {
		require.NoError(t, folder.Update("04", func(p *course.LabProgress) { p.Started = now; p.Hints++ }))
	}
	require.NoError(t, folder.Update("05", func(p *course.LabProgress) { p.Hints = 7 }))
	progress, err = folder.Progress()
	require.NoError(t, err)
	assert.Equal(t, course.Progress{"04": {Started: now, Hints: 2}, "05": {Hints: 7}}, progress)
	left, err := filepath.Glob(filepath.Join(folder.Dir, "*"))
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file is left")
}

func TestUnreadableProgressIsKept(t *testing.T) {
	folder := course.FolderIn(labtest.Repository(t))
	file := filepath.Join(folder.Dir, "progress.json")
	for _, text := range []string{"{", "null", "[]", ""} {
		labtest.Write(t, file, text)
		assert.ErrorIs(t, folder.Update("04", func(*course.LabProgress) {}), course.ErrBadProgress, text)
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, text, string(kept))
	}
}

func TestTheRepositoryIsFoundFromInside(t *testing.T) {
	repository := labtest.Repository(t)
	lab, folder := labtest.Lab(t, repository), course.FolderIn(repository)
	_, err := folder.Start(lab)
	require.NoError(t, err)
	for _, inside := range []string{repository, folder.Dir, folder.Of(lab), filepath.Join(repository, "gear")} {
		found, err := course.FindRepository(inside)
		require.NoError(t, err)
		assert.Equal(t, repository, found)
	}
	_, err = course.FindRepository(t.TempDir())
	assert.ErrorIs(t, err, course.ErrNoRepository)
}
