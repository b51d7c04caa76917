// Package house checks the rules of the repository that the compiler does not: which package may
// import which, what every package has to explain, and that the documentation names things that
// exist.
package house_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goPackage holds the fields of `go list -json` that the tests use.
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

// listPackages returns the packages of the module, which are listed once.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	packages, err := listOnce()
	require.NoError(t, err)
	require.NotEmpty(t, packages)
	return packages
}

var listOnce = sync.OnceValues(func() (packages []goPackage, err error) {
	command := exec.Command("go", "list", "-json=ImportPath,Dir,Name,GoFiles,Imports,Deps", "./...")
	command.Dir = root
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
})

// The point of the project is that every mechanism is built here, where it can be read and
// changed. An import from the original, however small, would bring its behaviour back.
func TestNothingIsImportedFromTheOriginal(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, dependency := range p.Deps {
			assert.False(t, strings.HasPrefix(dependency, "k8s.io/") || strings.HasPrefix(dependency, "sigs.k8s.io/"),
				"%s depends on %s: such imports belong into the module upstream/", p.ImportPath, dependency)
		}
	}
}

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
		return slices.Contains(page.fast, strings.TrimPrefix(importPath, module+"/"))
	})
}

// roomOf returns the entry of the floors table that a package belongs to, the longest match, and
// its level.
func roomOf(importPath string) (room string, floor int) {
	path := strings.TrimPrefix(importPath, module+"/")
	for level, rooms := range floors {
		for _, one := range rooms {
			if (path == one || strings.HasPrefix(path, one+"/")) && len(one) > len(room) {
				room, floor = one, level
			}
		}
	}
	return room, floor
}

// The gears at the bottom are useful without Kubernetes and write no log. To see them work, use
// their trace hooks. One package has Prometheus' library for the whole program, and one that of the
// log, so that its rules on formats, secrets and full disks hold for every line.
func TestGearsStayPlain(t *testing.T) {
	const metrics, logs = "internal/observe/metrics", "internal/observe/logs"
	isPrometheus := func(imported string) bool { return strings.HasPrefix(imported, "github.com/prometheus/") }
	forbidden := []string{"github.com/rs/zerolog", "github.com/spf13/cobra", "log", "log/slog"}
	gears := []string{"wait", "queue", "deltafifo", "indexer", "informer", "restclient", "nsctl", "controller",
		"examples"}
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		assert.Equal(t, path == metrics, slices.ContainsFunc(p.Imports, isPrometheus),
			"%s: %s alone imports Prometheus' library", path, metrics)
		assert.Equal(t, path == logs, slices.Contains(p.Imports, "github.com/rs/zerolog"),
			"%s: %s alone writes to the log", path, logs)
		assert.NotContains(t, p.Imports, "log/slog", path)
		isGear := slices.ContainsFunc(gears, func(gear string) bool {
			return path == gear || strings.HasPrefix(path, gear+"/")
		})
		joins := path == "controller/manager" // the gears of a program with its log and its metrics
		if !isGear || joins || strings.HasSuffix(p.Name, "test") || p.Name == "main" {
			continue
		}
		for _, imported := range p.Imports {
			assert.NotContains(t, forbidden, imported, "%s imports %s: gears tell what happens through trace hooks",
				path, imported)
		}
		assert.False(t, slices.ContainsFunc(p.Deps, isPrometheus),
			"%s depends on Prometheus' library: metrics are adapters over the trace hooks", path)
	}
}

// Code for demonstrations, measurements and tests is in internal/lab and cmd/lab. Neither the gears
// nor the deployed program depends on it, over any number of imports; tests of any package may.
func TestTheLaboratoryStandsNextDoor(t *testing.T) {
	looked := map[string]bool{}
	for _, p := range listPackages(t) {
		looked[p.ImportPath] = true
		if isLaboratory(p.ImportPath) {
			continue
		}
		for _, dependency := range p.Deps {
			assert.False(t, isLaboratory(dependency), "%s depends on %s", p.ImportPath, dependency)
		}
	}
	assert.True(t, looked[module+"/cmd/orrery"], "the program was looked at")
}

// isLaboratory reports whether a package is part of the laboratory. The root package is: it holds
// the sources of the gears, which the deployed program must not carry.
func isLaboratory(importPath string) bool {
	under := func(room string) bool { return importPath == room || strings.HasPrefix(importPath, room+"/") }
	return importPath == module || under(module+"/internal/lab") || under(module+"/cmd/lab")
}

// longestComment is the width of comments. Preformatted lines and addresses may be longer.
const longestComment = 100

func TestCommentsAreWrapped(t *testing.T) {
	for _, file := range filesEndingIn(t, ".go") {
		if strings.HasPrefix(file, "upstream/") {
			continue
		}
		output := false // of an example: its lines are what the program prints
		for number, line := range strings.Split(readDocument(t, file), "\n") {
			comment, isComment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "//")
			output = isComment && (output || comment == " Output:" || comment == " Unordered output:")
			if isComment && !output && !strings.HasPrefix(comment, "\t") && !strings.Contains(comment, "://") {
				columns := utf8.RuneCountInString(line)
				assert.LessOrEqual(t, columns, longestComment, "%s:%d: a comment", file, number+1)
			}
		}
	}
}
