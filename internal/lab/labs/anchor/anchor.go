// Package anchor resolves references to code, such as "deltafifo/fifo.go: DeltaFIFO.Pop", which
// glossary and tour use. A line number would be wrong after the next edit; a name is not.
package anchor

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"orrery/internal/lab/labs/stub"
)

// Place is what an anchor refers to.
type Place struct {
	// File is relative to the repository.
	File string
	// Name is Function, Type.Method, Type, or the name of a constant or variable; "" is the file.
	Name string
	// Line is the line of the declaration; 1 for a file.
	Line int
	// Doc is the doc comment.
	Doc string
	// Source is the declaration without its comment, or "" for a file.
	Source string
}

// String returns file, line and name, in the form that editors and terminals understand.
func (p Place) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d  %s", p.File, p.Line, p.Name))
}

// Resolve returns the place that an anchor refers to: a file of the repository, with ": Name" a
// declaration in it.
func Resolve(repository, anchor string) (Place, error) {
	file, name, _ := strings.Cut(anchor, ": ")
	place := Place{File: file, Name: name, Line: 1}
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(file)))
	if err != nil {
		return place, fmt.Errorf("%q: there is no such file", anchor)
	}
	if name == "" {
		return place, nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return place, err
	}
	node, doc := find(parsed, name)
	if node == nil {
		return place, fmt.Errorf("%q: the file does not declare that name", anchor)
	}
	begin, end := fset.Position(node.Pos()), fset.Position(node.End())
	place.Line, place.Doc, place.Source = begin.Line, doc.Text(), string(text[begin.Offset:end.Offset])
	return place, nil
}

// find returns the declaration of a name with its doc comment, or nil.
func find(file *ast.File, name string) (ast.Node, *ast.CommentGroup) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if stub.NameOf(d) == name {
				return d, d.Doc
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if doc, ok := declares(spec, name); ok {
					if len(d.Specs) == 1 {
						return d, d.Doc
					}
					return spec, doc
				}
			}
		}
	}
	return nil, nil
}

// declares reports whether a spec declares the name.
func declares(spec ast.Spec, name string) (*ast.CommentGroup, bool) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Doc, s.Name.Name == name
	case *ast.ValueSpec:
		for _, each := range s.Names {
			if each.Name == name {
				return s.Doc, true
			}
		}
	}
	return nil, false
}
