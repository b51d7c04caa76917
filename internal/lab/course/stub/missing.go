package stub

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Missing is a function of the reference that others use and that the learner's page lacks or
// declares differently.
type Missing struct {
	Name string `json:"name"`
	// Former is the signature in the reference.
	Former string `json:"former"`
	// Present is the learner's signature; "" if the function is gone.
	Present string `json:"present,omitempty"`
	// Callers are places in other files of the package, at most three: file.go:41.
	Callers []string `json:"callers,omitempty"`
}

// Compare returns what others miss in yours: changed exported functions, and private functions that
// one of the package's other files uses. moved are functions that the learner declares in files of
// their own. others are the paths of the package's other files in the reference; callers are named
// relative to the repository.
func Compare(base, yours *Page, moved []Function, repository string, others []string) []Missing {
	declared := map[string]Function{}
	for _, f := range append(yours.Functions(), moved...) {
		declared[f.Name] = f
	}
	var missing []Missing
	for _, f := range base.Functions() {
		now, ok := declared[f.Name]
		if f.declaration == nil {
			continue // what reads the YAML file says so
		}
		if ok && shape(now.declaration) == shape(f.declaration) {
			continue
		}
		callers := callersOf(f, repository, others)
		if len(callers) == 0 && !f.Exported() {
			continue
		}
		missing = append(missing, Missing{f.Name, f.Signature, now.Signature, callers})
	}
	return missing
}

// shape returns a function's types, without the names of parameters.
func shape(f *ast.FuncDecl) string {
	var text strings.Builder
	list := func(fields *ast.FieldList) {
		if fields != nil {
			for _, field := range fields.List {
				for range max(1, len(field.Names)) {
					text.WriteString(types.ExprString(field.Type) + ",")
				}
			}
		}
		text.WriteString(";")
	}
	list(f.Type.TypeParams)
	list(f.Type.Params)
	list(f.Type.Results)
	return text.String()
}

// callersOf returns where other files call a function of that name, at most three places.
func callersOf(f Function, repository string, others []string) []string {
	var callers []string
	for _, file := range others {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), f.short()) {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		method := f.declaration.Recv != nil
		ast.Inspect(parsed, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, _ := call.Fun.(*ast.Ident)
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok && method {
				name = selector.Sel
			} else if method {
				name = nil
			}
			if name != nil && name.Name == f.short() {
				callers = append(callers, fmt.Sprintf("%s:%d", relative(repository, file), fset.Position(name.Pos()).Line))
			}
			return true
		})
	}
	slices.Sort(callers)
	return callers[:min(len(callers), 3)]
}

func relative(repository, file string) string {
	name, err := filepath.Rel(repository, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(name)
}
