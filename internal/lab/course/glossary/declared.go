package glossary

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orrery/internal/lab/course/stub"
)

// Declared looks up a reference to code: a file of the repository, or a declaration in it, as in
// "deltafifo/fifo.go: DeltaFIFO.Pop". It returns the comment of the declaration. A line number
// would be wrong after the next edit; a name is not.
func Declared(repository, reference string) (doc string, err error) {
	file, name, _ := strings.Cut(reference, ": ")
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(file)))
	if err != nil {
		return "", fmt.Errorf("%q: there is no such file", reference)
	}
	if name == "" {
		return "", nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, declaration := range parsed.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if stub.NameOf(d) == name {
				return d.Doc.Text(), nil
			}
		case *ast.GenDecl:
			if slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool { return declares(spec, name) }) {
				return d.Doc.Text(), nil
			}
		}
	}
	return "", fmt.Errorf("%q: the file does not declare that name", reference)
}

// declares reports whether a spec declares the name.
func declares(spec ast.Spec, name string) bool {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name == name
	case *ast.ValueSpec:
		return slices.ContainsFunc(s.Names, func(each *ast.Ident) bool { return each.Name == name })
	}
	return false
}
