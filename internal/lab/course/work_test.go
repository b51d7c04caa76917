package course_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
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

func TestAnOverlayReplacesAddsAndRemoves(t *testing.T) {
	repository := labtest.Repository(t)
	lab, folder := labtest.Lab(t, repository), course.FolderIn(repository)
	_, err := folder.Start(lab)
	require.NoError(t, err)
	mine := map[*course.Lab]string{lab: folder.Of(lab)}
	labtest.Write(t, folder.Page(lab, "gear/mine.go"), "package gear\n")
	labtest.Write(t, folder.Page(lab, "gear/other.go"), "package gear\n")
	o, err := course.NewOverlay(repository, repository, mine)
	require.NoError(t, err)
	assert.Equal(t, []string{"workshop/work/04-counter/gear/other.go"}, o.Edited,
		"an edited file to read is reported and not used")

	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, o.Write(file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var written struct{ Replace map[string]string }
	require.NoError(t, json.Unmarshal(text, &written))
	assert.Equal(t, map[string]string{
		filepath.Join(repository, "gear/counter.go"):    folder.Page(lab, labtest.Page),
		filepath.Join(repository, "gear/mine.go"):       folder.Page(lab, "gear/mine.go"),
		filepath.Join(repository, "gear/white_test.go"): "",
	}, written.Replace)

	require.NoError(t, os.Remove(folder.Page(lab, labtest.Page)))
	_, err = course.NewOverlay(repository, repository, mine)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// Go prints a replaced file by its own path, or by the path that it replaces, absolute or not, with
// the module's name under -trimpath.
func TestPathsAreMappedBack(t *testing.T) {
	repository := labtest.Repository(t)
	lab, folder := labtest.Lab(t, repository), course.FolderIn(repository)
	_, err := folder.Start(lab)
	require.NoError(t, err)
	o, err := course.NewOverlay(repository, repository, map[*course.Lab]string{lab: folder.Of(lab)})
	require.NoError(t, err)
	const mine = "workshop/work/04-counter/gear/counter.go"
	for printed, want := range map[string]string{
		"gear/counter.go:9: x":                       mine + ":9: x",
		"./gear/counter.go:9":                        mine + ":9",
		"orrery/gear/counter.go:9 +0x1":              mine + ":9 +0x1",
		repository + "/gear/counter.go:9":            mine + ":9",
		folder.Page(lab, labtest.Page) + ":9:2: y":   mine + ":9:2: y",
		"workshop/work/04-counter/gear/counter.go:9": mine + ":9",
		"(" + repository + "/gear/other.go:3)":       "(gear/other.go:3)",
		"orrery/gear/other.go:3":                     "gear/other.go:3",
		"/root/go/pkg/mod/x/gear/counter.go:9":       "/root/go/pkg/mod/x/gear/counter.go:9",
		"widgear/counter.go:9":                       "widgear/counter.go:9",
		"testing/testing.go:2109":                    "testing/testing.go:2109",
		"no path, and a word such as counter.go":     "no path, and a word such as counter.go",
	} {
		assert.Equal(t, want, o.Map(printed))
	}
	_, learners := o.Name(mine)
	assert.True(t, learners, "the compiler's relative path is the learner's")
	assert.Equal(t, "gear/counter.go:9: x", o.Canonical("/another/folder/gear/counter.go:9: x"))
	elsewhere, err := course.NewOverlay(repository, folder.Of(lab), map[*course.Lab]string{lab: folder.Of(lab)})
	require.NoError(t, err)
	assert.Equal(t, "gear/counter.go", elsewhere.Show(labtest.Page))
	assert.Equal(t, "../../../gear/other.go", elsewhere.Show("gear/other.go"))
}

// What is read-only can be replaced by its owner.
func TestAKitHasWhatGitTracks(t *testing.T) {
	dir := labtest.Repository(t)
	require.NoError(t, os.Chmod(filepath.Join(dir, labtest.Page), 0o755))
	labtest.Track(t, dir)
	labtest.Write(t, filepath.Join(dir, "bin/lab"), "a program")
	archive := filepath.Join(t.TempDir(), "go1.26.0.linux-amd64.tar.gz")
	labtest.Write(t, archive, "Go")
	require.NoError(t, os.Chmod(archive, 0o444))
	file := filepath.Join(t.TempDir(), "kit.tar.gz")
	kit := course.Kit{Repository: dir, Archives: []string{archive}, File: file, Version: "v1"}
	require.NoError(t, course.WriteKit(t.Context(), kit))

	output, err := exec.Command("tar", "xzf", file, "-C", filepath.Dir(file)).CombinedOutput()
	require.NoError(t, err, string(output))
	there := filepath.Join(filepath.Dir(file), course.KitRoot)
	assert.True(t, course.IsKit(there))
	assert.False(t, course.IsKit(dir))
	for name, want := range map[string]string{"kit/version": "v1", labtest.Page: labtest.Reference,
		"kit/go/go1.26.0.linux-amd64.tar.gz": "Go"} {
		text, err := os.ReadFile(filepath.Join(there, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(text), name)
	}
	assert.FileExists(t, filepath.Join(there, "START.md"))
	assert.NoFileExists(t, filepath.Join(there, "bin/lab"))
	for name, want := range map[string]os.FileMode{labtest.Page: 0o755, "kit/go/go1.26.0.linux-amd64.tar.gz": 0o644} {
		info, err := os.Stat(filepath.Join(there, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode(), name)
	}
}

func TestAnInterruptedKitLeavesNoFile(t *testing.T) {
	dir, into := labtest.Repository(t), t.TempDir()
	labtest.Track(t, dir)
	kit := course.Kit{Repository: dir, File: filepath.Join(into, "kit.tar.gz"), Version: "v1"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, course.WriteKit(ctx, kit), context.Canceled)
	kit.Archives = []string{filepath.Join(into, "nothing")}
	require.ErrorIs(t, course.WriteKit(t.Context(), kit), os.ErrNotExist)
	kit.Archives = nil
	labtest.Write(t, filepath.Join(dir, "go.mod"), "module orrery\n\ngo 1.26.0\n\nrequire example.com/nothing v1.0.0\n")
	t.Setenv("GOPROXY", "off")
	require.ErrorContains(t, course.WriteKit(t.Context(), kit), "example.com/nothing", "a module cannot be had")
	left, err := filepath.Glob(filepath.Join(into, "kit*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A build constraint keeps the program out of this package.
func TestTheSetupOfAKitCompiles(t *testing.T) {
	output, err := exec.Command("go", "vet", "setup.go").CombinedOutput()
	assert.NoError(t, err, string(output))
}
