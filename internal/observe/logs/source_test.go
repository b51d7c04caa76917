package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
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
