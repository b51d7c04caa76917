// Package house checks the rules of the repository that no compiler knows: which package may import which, what
// every package has to explain, and that the documentation names things that exist.
package house_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goPackage is what the tests need of `go list -json`.
type goPackage struct {
	ImportPath string
	Dir        string
	Name       string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

const (
	module = "orrery"
	root   = "../.."
)

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	command := exec.Command("go", "list", "-json=ImportPath,Dir,Name,GoFiles,Imports,Deps", "./...")
	command.Dir = root
	command.Stderr = os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	var packages []goPackage
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
	require.NotEmpty(t, packages)
	return packages
}

// The point of the project is that every mechanism is built here, where it can be read and changed. An import of
// the original, however small, would bring the original's behaviour back in through the side door.
func TestNothingIsImportedFromTheOriginal(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, dependency := range p.Deps {
			assert.False(t, strings.HasPrefix(dependency, "k8s.io/") || strings.HasPrefix(dependency, "sigs.k8s.io/"),
				"%s depends on %s: such imports belong into the module upstream/", p.ImportPath, dependency)
		}
	}
}

// floors are the storeys of the house, from the ground up. A package may import what stands below it, and what
// stands before it in its own room (the rooms of one floor are listed in the order in which they may use each
// other). Test helper packages (…test) may import their own gear.
var floors = [][]string{
	{"internal/hooks", "internal/table"},
	{"wait", "deltafifo", "indexer", "restclient/api"},
	{"queue", "informer", "restclient"},
	{"nsctl"},
	{"internal", "cmd"},
}

// sameFloor are the only imports between rooms of one floor. None so far.
var sameFloor = map[string][]string{}

func TestImportsPointDownwards(t *testing.T) {
	for _, p := range listPackages(t) {
		from := roomOf(p.ImportPath)
		require.NotEmpty(t, from, "%s stands on no floor: put it into the table above and into the design", p.ImportPath)
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module+"/") {
				continue
			}
			to := roomOf(imported)
			switch {
			case from == to:
			case floorOf(to) < floorOf(from):
			case slices.Contains(sameFloor[from], to):
			case floorOf(from) == len(floors)-1 && floorOf(to) == len(floors)-1:
				// The binary and the packages that belong to it.
			default:
				t.Errorf("%s imports %s: imports point downwards only", p.ImportPath, imported)
			}
		}
	}
}

// roomOf returns the entry of the floors table that a package belongs to; the longest that fits.
func roomOf(importPath string) string {
	path := strings.TrimPrefix(importPath, module+"/")
	best := ""
	for _, floor := range floors {
		for _, room := range floor {
			if (path == room || strings.HasPrefix(path, room+"/")) && len(room) > len(best) {
				best = room
			}
		}
	}
	return best
}

func floorOf(room string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, room) })
}

// The gears at the bottom are useful to somebody who has never heard of Kubernetes, and log nothing: whoever
// wants to see them work uses their trace hooks.
func TestGearsStayPlain(t *testing.T) {
	forbidden := []string{"github.com/rs/zerolog", "github.com/spf13/cobra", "log", "log/slog"}
	gears := []string{"wait", "queue", "deltafifo", "indexer", "informer", "restclient", "nsctl"}
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		isGear := slices.ContainsFunc(gears, func(gear string) bool {
			return path == gear || strings.HasPrefix(path, gear+"/")
		})
		if !isGear || strings.HasSuffix(p.Name, "test") {
			continue
		}
		for _, imported := range p.Imports {
			assert.NotContains(t, forbidden, imported, "%s imports %s: gears tell what happens through trace hooks", path, imported)
			assert.False(t, strings.HasPrefix(imported, "github.com/prometheus/"), "%s imports %s: metrics are adapters over the trace hooks", path, imported)
		}
	}
}

// The protobuf runtime looks methods up by names that the linker cannot know, which makes it keep every exported method of the
// program: a third more of it, and a quarter more memory at rest. Prometheus' library brings that with it, so it is for tests.
func TestNothingBringsTheProtobufRuntime(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, dependency := range p.Deps {
			assert.False(t, strings.HasPrefix(dependency, "github.com/prometheus/") || dependency == "google.golang.org/protobuf/proto",
				"%s depends on %s", p.ImportPath, dependency)
		}
	}
}

func TestEveryPackageTeaches(t *testing.T) {
	headings := []string{"# Concept", "# Guarantees", "# Goroutines", "# Failure", "# Testing"}
	for _, p := range listPackages(t) {
		if p.Name == "main" || len(p.GoFiles) == 0 || strings.HasSuffix(p.Name, "test") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		if !assert.NoError(t, err, "%s has no doc.go", p.ImportPath) {
			continue
		}
		for _, heading := range headings {
			assert.Contains(t, string(text), heading, "%s/doc.go", p.ImportPath)
		}
		assert.Contains(t, string(text), "// Next: package ", "%s/doc.go does not say what to read next", p.ImportPath)
	}
}

func TestEveryPackageHasAnExample(t *testing.T) {
	gears := []string{"wait", "queue", "deltafifo", "indexer", "informer", "restclient", "nsctl"}
	for _, gear := range gears {
		files, err := filepath.Glob(filepath.Join(root, gear, "*_test.go"))
		require.NoError(t, err)
		found := slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			return strings.Contains(string(text), "\nfunc Example") && strings.Contains(string(text), "// Output:")
		})
		assert.True(t, found, "%s has no Example with an output", gear)
	}
}

// The laboratory stands next door: what is only for demonstrations, measurements and tests is in internal/lab, and
// neither the gears nor what is deployed needs it. Tests of any package may use it.
func TestTheLaboratoryStandsNextDoor(t *testing.T) {
	const lab = module + "/internal/lab"
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(path, "internal/lab") || path == "cmd/lab" {
			continue
		}
		for _, dependency := range p.Deps {
			assert.False(t, dependency == lab || strings.HasPrefix(dependency, lab+"/"), "%s depends on %s", path, dependency)
		}
	}
}
