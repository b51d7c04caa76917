package course_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

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
	assert.Equal(t, "gear/counter.go:9: x", o.Canonical("/another/folder/gear/counter.go:9: x"))
	elsewhere, err := course.NewOverlay(repository, folder.Of(lab), map[*course.Lab]string{lab: folder.Of(lab)})
	require.NoError(t, err)
	assert.Equal(t, "gear/counter.go", elsewhere.Show(labtest.Page))
	assert.Equal(t, "../../../gear/other.go", elsewhere.Show("gear/other.go"))
}
