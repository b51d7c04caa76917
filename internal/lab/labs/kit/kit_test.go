package kit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/kit"
	"orrery/internal/lab/labs/labtest"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/schedule"
)

const (
	english = "## Say first\n## Where people get stuck\n- `last-only`: a\n- `subtracts`: b\n- `zero`: c\n## When to go on\n## If nothing works\n`recordings/count.txt`\n"
	chinese = "## 开场先讲\n## 大家会卡在哪里\n- `last-only`：甲\n- `subtracts`：乙\n- `zero`：丙\n## 什么时候往下走\n## 万一演示不了\n`recordings/count.txt`\n"
)

// repository returns a repository with a sound kit, and its lab.
func repository(t *testing.T) (dir string, lab *manifest.Lab) {
	t.Helper()
	dir = labtest.Repository(t)
	for name, text := range map[string]string{
		"teach/04-counter.md": english, "teach/04-counter.zh-CN.md": chinese, "teach/recordings/count.txt": "counted\n",
		"teach/handout-short.md": "| 04 Counter | a |\n| 05 Later | b |\n", "teach/handout-short.zh-CN.md": "| 04 计数器 | 甲 |\n| 05 以后 | 乙 |\n",
		"README.md": "[04](labs/04-counter/README.md)", "README.zh-CN.md": "[04](labs/04-counter/README.zh-CN.md)",
	} {
		labtest.Write(t, filepath.Join(dir, "workshop", name), text)
	}
	lab = labtest.Lab(t, dir)
	lab.Run.Scene = "count"
	return dir, lab
}

func TestWhatIsWrongWithTheKitIsNamed(t *testing.T) {
	plan := schedule.Plan{Name: "short", Labs: []string{"04", "05"}}
	problemsOf := func(dir string, lab *manifest.Lab) (problems []string) {
		problems = kit.LabProblems(dir, lab, func(name string) bool { return name == "count" })
		problems = append(problems, kit.HandoutProblems(dir, plan)...)
		return append(problems, kit.EntranceProblems(dir, []*manifest.Lab{lab})...)
	}
	dir, lab := repository(t)
	assert.Empty(t, problemsOf(dir, lab))

	for want, spoil := range map[string]func(dir string, lab *manifest.Lab){
		`04-counter.md: it has a line for each of ["last-only" "subtracts" "zero"], and mutants.yaml has ["last-only" "subtracts"]`: func(_ string, lab *manifest.Lab) {
			lab.Mutants = lab.Mutants[:2]
		},
		"teach/04-counter.zh-CN.md: the headings are": func(dir string, _ *manifest.Lab) {
			labtest.Write(t, filepath.Join(dir, "workshop/teach/04-counter.zh-CN.md"), "## 开场先讲\n")
		},
		"there is no workshop/teach/05-new.md": func(_ string, lab *manifest.Lab) { lab.Name = "05-new" },
		"there is no workshop/teach/recordings/count.txt; type: make recordings SCENE=count": func(dir string, _ *manifest.Lab) {
			require.NoError(t, os.Remove(filepath.Join(dir, "workshop/teach/recordings/count.txt")))
		},
		"it does not name `recordings/another.txt`": func(_ string, lab *manifest.Lab) { lab.Run.Scene = "another" },
		`handout-short.md: the labs are ["05"], and workshop/schedules.yaml has ["04" "05"]`: func(dir string, _ *manifest.Lab) {
			labtest.Write(t, filepath.Join(dir, "workshop/teach/handout-short.md"), "| 05 Later | b |\n")
		},
		"workshop/README.md: the table has no link to labs/04-counter/README.md": func(dir string, _ *manifest.Lab) {
			labtest.Write(t, filepath.Join(dir, "workshop/README.md"), "# The workshop\n")
		},
	} {
		dir, lab := repository(t)
		spoil(dir, lab)
		problems := problemsOf(dir, lab)
		require.NotEmpty(t, problems, want)
		assert.Contains(t, problems[0], want)
	}
}
