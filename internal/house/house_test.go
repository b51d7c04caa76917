// Package house checks the rules of the repository that the compiler does not: which package may
// import which, what every package has to explain, and that the documentation names things that
// exist.
package house_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goPackage holds the fields of `go list -json` that the tests use.
type goPackage struct {
	ImportPath, Dir, Name  string
	GoFiles, Imports, Deps []string
	ImportMap              map[string]string
	Module                 *struct{ Main bool }
}

const (
	module = "orrery"
	root   = "../.."
)

// goList lists packages.
func goList(arguments ...string) (packages []goPackage, err error) {
	const fields = "-json=ImportPath,Dir,Name,GoFiles,Imports,Deps,ImportMap,Module"
	command := exec.Command("go", append([]string{"list", fields}, arguments...)...)
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

var listOnce = sync.OnceValues(func() ([]goPackage, error) { return goList("./...") })

// listPackages returns the packages of the module, which are listed once.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	packages, err := listOnce()
	require.NoError(t, err)
	require.NotEmpty(t, packages)
	return packages
}

// pathOf returns the path of a package in the repository.
func pathOf(importPath string) string { return strings.TrimPrefix(importPath, module+"/") }

// floors lists the packages by level, from the bottom. A package may import the levels below it.
// Test helper packages (…test) may import their own gear. Of internal, a gear imports only the
// leaves of the bottom level.
var floors = [][]string{
	{"internal/hooks", "internal/table"},
	{"wait", "deltafifo", "indexer", "restclient/api"},
	{"queue", "informer", "restclient"},
	{"controller"},
	{"nsctl", "internal/words"},
	{"controller/events"},
	{"examples"},
	{"internal", "cmd", "controller/manager"},
}

func TestImportsPointDownwards(t *testing.T) {
	top := len(floors) - 1 // the programs and the packages that belong to them, which import each other
	for _, p := range listPackages(t) {
		from, floor := roomOf(p.ImportPath)
		if p.ImportPath == module { // the sources of the gears, which imports nothing of them
			continue
		}
		if !assert.NotEmpty(t, from, "%s has no level: add it to the table above and to the design", p.ImportPath) {
			continue
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module+"/") {
				continue
			}
			to, below := roomOf(imported)
			assert.False(t, isFastForm(imported) && !isFastForm(p.ImportPath) && floor < top && from != "controller",
				"%s imports %s: controller/gears and controller choose fast forms, no gear knows them",
				p.ImportPath, imported)
			assert.True(t, from == to || below < floor || floor == top && below == top,
				"%s imports %s: imports point downwards only", p.ImportPath, imported)
		}
	}
}

// isFastForm reports whether a package is another form of a gear than the textbook's.
func isFastForm(importPath string) bool {
	return slices.ContainsFunc(textbookPages, func(page textbookPage) bool {
		return slices.Contains(page.fast, pathOf(importPath))
	})
}

// roomOf returns the entry of the floors table that a package belongs to, the longest match, and
// its level.
func roomOf(importPath string) (room string, floor int) {
	for level, rooms := range floors {
		for _, one := range rooms {
			if within(pathOf(importPath), one) && len(one) > len(room) {
				room, floor = one, level
			}
		}
	}
	return room, floor
}

// The gears are useful without Kubernetes and write no log. To see them work, use their trace hooks.
var gears = []string{"wait", "queue", "deltafifo", "indexer", "informer", "restclient", "nsctl", "controller",
	"examples"}

// within reports whether a package is one of the rooms, or below one.
func within(path string, rooms ...string) bool {
	holds := func(room string) bool { return path == room || strings.HasPrefix(path, room+"/") }
	return slices.ContainsFunc(rooms, holds)
}

// isLaboratory reports whether a package is for demonstrations, measurements and tests. The root
// package is: it holds the sources of the gears, which the deployed program must not carry.
func isLaboratory(path string) bool { return path == module || within(path, "internal/lab", "cmd/lab") }

// The point of the project is that every mechanism is built here, where it can be read and changed.
// An import from the original, however small, would bring its behaviour back.
//
// Neither the gears nor the deployed program depends on the laboratory, over any number of imports;
// tests of any package may. One package has Prometheus' library for the whole program, and one that
// of the log, so that its rules on formats, secrets and full disks hold for every line.
func TestWhatPackagesDependOn(t *testing.T) {
	const prometheus, zerolog = "github.com/prometheus", "github.com/rs/zerolog"
	var looked []string
	for _, p := range listPackages(t) {
		path := pathOf(p.ImportPath)
		looked = append(looked, path)
		joins := path == "controller/manager" || p.Name == "main" || strings.HasSuffix(p.Name, "test")
		isGear := within(path, gears...) && !joins
		for _, dependency := range p.Deps {
			assert.False(t, within(dependency, "k8s.io", "sigs.k8s.io"),
				"%s depends on %s: such imports belong into the module upstream/", path, dependency)
			assert.False(t, isLaboratory(pathOf(dependency)) && !isLaboratory(path),
				"%s depends on %s", path, dependency)
			assert.False(t, isGear && within(dependency, prometheus),
				"%s depends on %s: metrics are adapters over the trace hooks", path, dependency)
		}
		for _, imported := range p.Imports {
			assert.False(t, within(imported, prometheus) && path != "internal/observe/metrics", "%s: metrics", path)
			assert.False(t, within(imported, zerolog) && path != "internal/observe/logs", "%s: logs", path)
			assert.NotEqual(t, "log/slog", imported, path)
			assert.False(t, isGear && (imported == "log" || imported == "github.com/spf13/cobra"),
				"%s imports %s: gears tell what happens through trace hooks", path, imported)
		}
	}
	assert.Contains(t, looked, "cmd/orrery", "the program was looked at")
}
