package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"sync"
)

// source holds the names that a Go file declares.
type source struct{ declared map[string]bool }

var sources sync.Map // of *source, by path

// parseSource reads a file, by its path in the repository.
func parseSource(file string) (*source, error) {
	if known, ok := sources.Load(file); ok {
		return known.(*source), nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{declared: map[string]bool{}}
	for _, declaration := range parsed.Decls {
		s.declare(declaration)
	}
	sources.Store(file, s)
	return s, nil
}

func (s *source) declare(declaration ast.Decl) {
	if function, ok := declaration.(*ast.FuncDecl); ok {
		s.declared[functionName(function)] = true
		return
	}
	for _, spec := range declaration.(*ast.GenDecl).Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				s.declared[name.Name] = true
			}
		case *ast.TypeSpec:
			s.declared[spec.Name.Name] = true
			members := &ast.FieldList{}
			switch t := spec.Type.(type) {
			case *ast.StructType:
				members = t.Fields
			case *ast.InterfaceType:
				members = t.Methods
			}
			for _, member := range members.List {
				for _, name := range member.Names {
					s.declared[spec.Name.Name+"."+name.Name] = true
				}
			}
		}
	}
}

// declares reports whether the file declares the name: a function, type, constant or variable, or
// Type.member for a method, a field or a method of an interface.
func declares(file, name string) error {
	source, err := parseSource(file)
	if err != nil {
		return err
	}
	if !source.declared[name] {
		return fmt.Errorf("%s does not declare %s", file, name)
	}
	return nil
}

// functionName returns the name of a function, or Type.Name of a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return typeName(f.Recv.List[0].Type) + "." + f.Name.Name
}

// typeName returns the name of a receiver's type, without pointer and type parameters.
func typeName(expression ast.Expr) string {
	switch t := expression.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
