package house_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordOneEvent returns the functions that one event runs with each set of gears, in the order in
// which their first statements run. It records the packages of the steps and of the textbook's
// pages. A function that waited for the event when it came, such as Queue.Get, runs on from there.
func recordOneEvent(t *testing.T, steps []tourStep) map[string][]tourStep {
	t.Helper()
	var directories []string
	for _, step := range steps {
		directories = append(directories, path.Dir(step.file))
	}
	for _, page := range textbookPages {
		directories = append(directories, path.Dir(page.file))
	}
	slices.Sort(directories)
	overlay := printStatements(t, slices.Compact(directories))
	command := exec.Command("go", "test", "-count=1", "-v", "-run=^TestOneEvent$", "-overlay="+overlay,
		"./internal/lab/chaos")
	command.Dir = root
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)

	recorded := map[string][]tourStep{}
	current := ""
	for line := range strings.Lines(string(output)) {
		verb, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "begin":
			current = what
		case "end":
			current = ""
		case "run":
			file, name, _ := strings.Cut(what, " ")
			step := tourStep{file, name}
			if current != "" && !slices.Contains(recorded[current], step) {
				recorded[current] = append(recorded[current], step)
			}
		}
	}
	require.Len(t, recorded, 2, "%s", output)
	return recorded
}

// printStatements writes copies of the packages' files in which every statement is preceded by one
// that prints the file and the function. It returns a file for Go's -overlay flag.
func printStatements(t *testing.T, directories []string) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for _, directory := range directories {
		files, err := filepath.Glob(filepath.Join(root, directory, "*.go"))
		require.NoError(t, err)
		files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
		recorder, err := filepath.Abs(filepath.Join(root, directory, "recorder.go"))
		require.NoError(t, err)
		replace[recorder] = filepath.Join(dir, strings.ReplaceAll(directory, "/", "_")+"_recorder.go")
		for _, file := range files {
			name := path.Join(directory, filepath.Base(file))
			printed := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
			text, packageName := withPrints(t, file, name)
			require.NoError(t, os.WriteFile(printed, text, 0o600))
			require.NoError(t, os.WriteFile(replace[recorder], []byte("package "+packageName+recorderText), 0o600))
			absolute, err := filepath.Abs(file)
			require.NoError(t, err)
			replace[absolute] = printed
		}
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, text, 0o600))
	return overlay
}

// recorderText is the rest of a file that is added to each package: what the server in memory runs
// there is not the event's way through the controller.
const recorderText = `

import (
	"runtime"
	"strings"
)

func recordRun(what string) {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); strings.HasPrefix(frame.Function, "orrery/internal/lab/apiserver") {
			return
		}
	}
	println("run " + what)
}
`

// withPrints returns the text of a file with a print before every statement of its functions, and
// the name of its package.
func withPrints(t *testing.T, file, name string) (printing []byte, packageName string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	type insertion struct {
		offset int
		text   string
	}
	var insertions []insertion
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		print := fmt.Sprintf("recordRun(%q); ", name+" "+functionName(function))
		before := func(statements []ast.Stmt) {
			for _, statement := range statements {
				switch statement.(type) {
				case *ast.CaseClause, *ast.CommClause:
				default:
					insertions = append(insertions, insertion{fset.Position(statement.Pos()).Offset, print})
				}
			}
		}
		ast.Inspect(function.Body, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.BlockStmt:
				before(node.List)
			case *ast.CaseClause:
				before(node.Body)
			case *ast.CommClause:
				before(node.Body)
			}
			return true
		})
	}
	slices.SortStableFunc(insertions, func(a, b insertion) int { return b.offset - a.offset })
	for _, at := range insertions {
		text = slices.Insert(text, at.offset, []byte(at.text)...)
	}
	return text, parsed.Name.Name
}
