package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moduleRoot is the root of the program's source.
const moduleRoot = "../../.."

// statement is a place where a line is written.
type statement struct {
	file    string
	message string
}

// statements returns all log statements below a directory and reports those whose message is not
// constant: values belong in fields.
func statements(t *testing.T, directory string) []statement {
	t.Helper()
	var found []statement
	files := token.NewFileSet()
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case "upstream", "testdata", ".git", "bin":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if !isCall {
				return true
			}
			selector, isMethod := call.Fun.(*ast.SelectorExpr)
			if !isMethod {
				return true
			}
			where := files.Position(call.Pos())
			switch selector.Sel.Name {
			case "Msgf", "MsgFunc":
				assert.Fail(t, "a message that is not constant", "%s: use Msg and fields", where)
			case "Msg":
				literal, constant := call.Args[0].(*ast.BasicLit)
				if assert.True(t, constant && literal.Kind == token.STRING, "%s: a message is a constant; what varies stands in fields", where) {
					message, err := strconv.Unquote(literal.Value)
					assert.NoError(t, err)
					found = append(found, statement{file: filepath.ToSlash(path), message: message})
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	return found
}

// Messages are constant, so that they can be searched for and counted, and they follow the
// house's style.
func TestMessagesAreConstant(t *testing.T) {
	all := statements(t, moduleRoot)
	require.Greater(t, len(all), 40, "the search finds them")
	for _, s := range all {
		assert.NotEmpty(t, s.message, s.file)
		assert.NotRegexp(t, `^[A-Z][a-z]|[.!]$|%[svdq]`, s.message, "%s: begins with a small letter, ends without a full stop, has no place for values", s.file)
	}
}

// fieldMethods are the methods that add a field to a line.
var fieldMethods = map[string]bool{"Str": true, "Strs": true, "Int": true, "Int64": true, "Dur": true, "Bool": true, "AnErr": true,
	"Bytes": true, "Stringer": true, "Float64": true, "Interface": true, "Time": true, "Any": true, "Uint64": true, "Int32": true,
	"Uint": true, "Durs": true, "Ints": true}

// The table of fields in the manual lists exactly the fields that a line can have.
func TestFieldsAreDocumented(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "operate", "observing.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(manual), "\n### The fields\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n### ")
	documented := map[string]bool{}
	for row := range strings.Lines(section) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				documented[name[1]] = true
			}
		}
	}
	// Those that are written without a literal, by the library or by a constant.
	written := map[string]bool{"time": true, "level": true, "message": true, "error": true, "reconcile_id": true}
	read := map[string]bool{}
	for _, s := range statements(t, moduleRoot) {
		if read[s.file] {
			continue
		}
		read[s.file] = true
		file, err := parser.ParseFile(token.NewFileSet(), s.file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if !isCall || len(call.Args) != 2 {
				return true
			}
			selector, isMethod := call.Fun.(*ast.SelectorExpr)
			literal, isLiteral := call.Args[0].(*ast.BasicLit)
			if isMethod && isLiteral && fieldMethods[selector.Sel.Name] && literal.Kind == token.STRING {
				field, _ := strconv.Unquote(literal.Value)
				assert.True(t, documented[field], "%s: the table in docs/operate/observing.md lacks the field %s", s.file, field)
				written[field] = true
			}
			return true
		})
	}
	for field := range documented {
		assert.True(t, written[field], "the table in docs/operate/observing.md has the field %s, which no line has", field)
	}
}

// Only this package writes to the log, so its rules on formats, secrets and full disks hold for
// every line.
func TestOnlyThisPackageKnowsTheLibrary(t *testing.T) {
	files := token.NewFileSet()
	forbidden := []string{"github.com/rs/zerolog", "log/slog"}
	err := filepath.WalkDir(moduleRoot, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "upstream" || entry.Name() == "testdata" || path == filepath.Join(moduleRoot, "internal", "observe", "logs")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			name, _ := strconv.Unquote(imported.Path.Value)
			assert.NotContains(t, forbidden, name, path)
		}
		return nil
	})
	require.NoError(t, err)
}
