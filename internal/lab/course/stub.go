package course

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// Make returns the page with the bodies of the functions in write replaced by a panic that names
// the lab, and without the functions in remove. The values of a YAML file become a text that names
// the lab.
func (p *Page) Make(lab string, write, remove []string) ([]byte, error) {
	var cuts []cut
	for _, name := range write {
		f, ok := p.Function(name)
		if !ok || f.to == 0 {
			return nil, fmt.Errorf("there is no function %s with a body", name)
		}
		body := fmt.Sprintf("{\n\tpanic(%q)\n}", message("lab "+lab, name))
		if p.file == nil {
			body = fmt.Sprintf(" %q", message("lab "+lab, name))
		}
		cuts = append(cuts, cut{f.from, f.to, body})
	}
	for _, name := range remove {
		f, ok := p.Function(name)
		if !ok || f.declaration == nil {
			return nil, fmt.Errorf("there is no function %s to remove", name)
		}
		from := f.declaration.Pos()
		if f.declaration.Doc != nil {
			from = f.declaration.Doc.Pos()
		}
		cuts = append(cuts, p.cut(from, f.declaration.End()))
	}
	if p.file == nil {
		return apply(p.Text, cuts), nil
	}
	text, err := format.Source(apply(p.Text, cuts))
	if err != nil {
		return nil, err
	}
	return withoutUnusedImports(text)
}

// cut replaces a part of a text.
type cut struct {
	from, to int
	by       string
}

func (p *Page) cut(from, to token.Pos) cut { return cut{p.offset(from), p.offset(to), ""} }

// apply applies cuts, which do not overlap.
func apply(text []byte, cuts []cut) []byte {
	slices.SortFunc(cuts, func(a, b cut) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(append(out, text[at:c.from]...), c.by...)
		at = c.to
	}
	return append(out, text[at:]...)
}

// version is the last element of an import path such as go.yaml.in/yaml/v3.
var version = regexp.MustCompile(`^v[0-9]+$`)

// withoutUnusedImports removes the imports that nothing in the file refers to.
func withoutUnusedImports(text []byte) ([]byte, error) {
	p, err := ParsePage("stub.go", text)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	ast.Inspect(p.file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	var cuts []cut
	for _, d := range p.file.Decls {
		imports, ok := d.(*ast.GenDecl)
		if !ok || imports.Tok != token.IMPORT {
			continue
		}
		var unused []cut
		for _, spec := range imports.Specs {
			if spec := spec.(*ast.ImportSpec); !used[importName(spec)] {
				unused = append(unused, p.cut(spec.Pos(), spec.End()))
			}
		}
		if len(unused) == len(imports.Specs) {
			unused = []cut{p.cut(imports.Pos(), imports.End())}
		}
		cuts = append(cuts, unused...)
	}
	return format.Source(apply(text, cuts))
}

// importName returns the name by which a file refers to an import.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	name := path.Base(imported)
	if version.MatchString(name) {
		name = path.Base(path.Dir(imported))
	}
	return name
}
