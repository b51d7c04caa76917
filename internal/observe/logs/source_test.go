package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moduleRoot is where the program's source begins.
const moduleRoot = "../../.."

// statement is a place where a line is written.
type statement struct {
	file    string
	message string
}

// statements returns all log statements below a directory, and complains about those whose message is not constant: what
// varies stands in fields.
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

// Messages are constant, so that they can be searched for and counted, and they are sentences in the house's style.
func TestMessagesAreConstant(t *testing.T) {
	all := statements(t, moduleRoot)
	require.Greater(t, len(all), 40, "the search finds them")
	for _, s := range all {
		assert.NotEmpty(t, s.message, s.file)
		assert.NotRegexp(t, `^[A-Z][a-z]|[.!]$|%[svdq]`, s.message, "%s: begins with a small letter, ends without a full stop, has no place for values", s.file)
	}
}

// fieldMethods are those that give a line a field.
var fieldMethods = map[string]bool{"Str": true, "Strs": true, "Int": true, "Int64": true, "Dur": true, "Bool": true, "AnErr": true,
	"Bytes": true, "Stringer": true, "Float64": true, "Interface": true, "Time": true}

// The manual says what each field means.
func TestFieldsAreDocumented(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "observing.md"))
	require.NoError(t, err)
	written := map[string]bool{}
	for _, s := range statements(t, moduleRoot) {
		if written[s.file] {
			continue
		}
		written[s.file] = true
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
				assert.True(t, strings.Contains(string(manual), "`"+field+"`"), "%s: docs/observing.md does not say what the field %s means", s.file, field)
			}
			return true
		})
	}
}

// Nothing writes into the log past this package: what is said here of formats, secrets and full disks holds for every line.
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
