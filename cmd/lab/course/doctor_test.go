package course

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course/bundle"
	"orrery/internal/lab/course/labtest"
	"orrery/internal/lab/course/texts"
)

// doctor returns what the doctor finds, by check.
func doctor(t *testing.T, args ...string) map[string]ailment {
	t.Helper()
	_, stdout, stderr := lab(t, append([]string{"doctor", "--warm=false", "-o", "json"}, args...)...)
	var found []ailment
	require.NoError(t, json.Unmarshal([]byte(stdout), &found), stderr)
	byCheck := map[string]ailment{}
	for _, a := range found {
		byCheck[a.Check] = a
	}
	return byCheck
}

func TestTheRoomGetsOneLine(t *testing.T) {
	repository(t)
	_, stdout, _ := lab(t, "doctor", "--warm=false", "--room")
	assert.Regexp(t, `^\S+  `+runtime.GOOS+`/\S+  go1\S+  race no  warm no  disk \d+ GB  `, stdout)
	_, stdout, _ = lab(t, "doctor", "--warm=false", "--room", "--lang", "zh-CN")
	assert.Contains(t, stdout, "竞争检测 否")
	_, stdout, _ = lab(t, "doctor", "--warm=false", "--room", "-o", "json")
	var got seat
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, got.System)
	assert.False(t, got.Warm)
}

func TestASeatSaysWhatPassed(t *testing.T) {
	for check, want := range map[string]seat{"race detector": {Race: true}, "build": {Warm: true}, "ports": {}} {
		got := newSeat(&session{}, []ailment{{Check: check, OK: true}})
		assert.Equal(t, want.Race, got.Race, "race, if only this passed: %s", check)
		assert.Equal(t, want.Warm, got.Warm, "warm, if only this passed: %s", check)
	}
}

// A nearly full disk is a warning: what is built already works. Where a build would not fit, it is
// a failure, with the same advice.
func TestANearlyFullDiskIsAWarning(t *testing.T) {
	for free, want := range map[float64]ailment{
		3e9:   {OK: true, Says: "3 GB are free"},
		2e9:   {OK: true, Says: "2 GB are free"},
		1.9e9: {Optional: true, Says: "only 1.9 GB are free; the labs need 2 GB: remove something, or go clean -cache"},
		500e6: {Optional: true, Says: "only 0.5 GB are free; the labs need 2 GB: remove something, or go clean -cache"},
		400e6: {Says: "only 0.4 GB are free; the labs need 2 GB: remove something, or go clean -cache"},
	} {
		c := &checkup{session: &session{lang: texts.English}}
		c.disk(free, nil)
		want.Check = "disk"
		assert.Equal(t, []ailment{want}, c.found)
	}
}

// A page of the reference that git calls changed was edited.
func TestAnEditedReferenceIsNamed(t *testing.T) {
	dir := repository(t)
	commit(t, dir)
	assert.True(t, doctor(t)["reference"].OK)
	labtest.Write(t, filepath.Join(dir, labtest.Page), labtest.Reference+"\n// another\n")
	found := doctor(t)["reference"]
	assert.False(t, found.OK || found.Optional)
	assert.Equal(t, "pages of the reference were changed; put them back with: git checkout "+labtest.Page, found.Says)
}

// commit makes a git clone of the folder.
func commit(t *testing.T, dir string) {
	t.Helper()
	for _, arguments := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all"},
	} {
		command := exec.Command("git", arguments...)
		command.Dir = dir
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
	}
}

// Outside of a kit there is nothing to compare; in a kit, its list says what is missing.
func TestTheDoctorComparesAKit(t *testing.T) {
	dir := repository(t)
	found := doctor(t, "--kit")["kit"]
	assert.False(t, found.OK)
	assert.Contains(t, found.Says, "was not unpacked from a kit")

	commit(t, dir)
	file := filepath.Join(t.TempDir(), "kit.tar.gz")
	archive := filepath.Join(t.TempDir(), "go1.26.0.linux-amd64.tar.gz")
	labtest.Write(t, archive, "Go")
	code, stdout, stderr := lab(t, "bundle", "-o", file, "--go", archive)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `^\S+  0\.0 MB\n  repository  +\d+ files .*\n  go  +1 files .*\nOn a laptop: unpack it \(tar xzf kit\.tar\.gz\)`, stdout)

	to := t.TempDir()
	output, err := exec.Command("tar", "xzf", file, "-C", to).CombinedOutput()
	require.NoError(t, err, string(output))
	t.Chdir(filepath.Join(to, bundle.Root))
	all := doctor(t, "--kit")
	assert.True(t, all["kit"].OK, all["kit"].Says)
	assert.Equal(t, "the kit has go1.26.0.linux-amd64.tar.gz", all["kit: go"].Says)
	labtest.Write(t, labtest.Page, labtest.Reference+"\n// another\n")
	all = doctor(t, "--kit")
	assert.Equal(t, "missing or changed: "+labtest.Page+"; unpack the kit again", all["kit"].Says)
	assert.Equal(t, "pages of the reference were changed; unpack them from the kit again: "+labtest.Page, all["reference"].Says)
	labtest.Write(t, "kit/kit.json", "{")
	assert.Contains(t, doctor(t, "--kit")["kit"].Says, "the list of the kit cannot be read; unpack it again: kit/kit.json: ")
	_, _, stderr = lab(t, "bundle")
	assert.Equal(t, "lab: a kit is made from a git clone, and git does not list the files of .\n", stderr)
}

func TestMistakesOfBundle(t *testing.T) {
	dir := repository(t)
	commit(t, dir)
	for want, args := range map[string][]string{
		"there is no go1.26.0.linux-386.tar.gz; download":     {"--go", "go1.26.0.linux-386.tar.gz"},
		"go.mod is not an archive of Go":                      {"--go", "go.mod"},
		"open nothing/kit.part: ":                             {"-o", "nothing/kit"},
		`unexpected argument "kit" (see "lab bundle --help")`: {"kit"},
	} {
		code, stdout, stderr := lab(t, append([]string{"bundle"}, args...)...)
		assert.Equal(t, 2, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "lab: "+want)
	}
}
