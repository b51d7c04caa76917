package course

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Page is a parsed Go file, or a YAML file.
type Page struct {
	Text []byte
	fset *token.FileSet
	file *ast.File // nil for a YAML file
}

// ParsePage parses a page. name is for error messages.
func ParsePage(name string, text []byte) (*Page, error) {
	p := &Page{Text: text, fset: token.NewFileSet()}
	var err error
	if strings.HasSuffix(name, ".yaml") {
		return p, nil
	}
	p.file, err = parser.ParseFile(p.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return p, err
}

// Function is a function or method of a page.
type Function struct {
	// Name is Function or Type.Method.
	Name string
	// Line and End are the first and the last line of the declaration, without its comment.
	Line, End int

	from, to    int           // where the body is in the page
	declaration *ast.FuncDecl // nil for a key of a YAML file
}

// Functions returns all functions in their order.
func (p *Page) Functions() []Function {
	if p.file == nil {
		return p.keys()
	}
	var functions []Function
	for _, declaration := range p.file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			function := Function{
				Name: NameOf(f), declaration: f, Line: p.line(f.Pos()), End: p.line(f.End()),
			}
			if f.Body != nil {
				function.from, function.to = p.offset(f.Body.Pos()), p.offset(f.Body.End())
			}
			functions = append(functions, function)
		}
	}
	return functions
}

// key is a line of a YAML file with a key of its mapping.
var key = regexp.MustCompile(`(?m)^([A-Za-z][A-Za-z0-9_-]*):`)

// keys returns the keys of a YAML file. A value ends before the next key and its comment.
func (p *Page) keys() []Function {
	places := key.FindAllSubmatchIndex(p.Text, -1)
	lineOf := func(offset int) int { return 1 + bytes.Count(p.Text[:offset], []byte("\n")) }
	var functions []Function
	for i, place := range places {
		to := len(p.Text)
		if i+1 < len(places) {
			to = places[i+1][0]
		}
		value := p.Text[place[1]:to]
		for {
			trimmed := bytes.TrimRight(value, " \n")
			last := bytes.LastIndexByte(trimmed, '\n') + 1
			if last == 0 || trimmed[last] != '#' {
				value = trimmed
				break
			}
			value = trimmed[:last]
		}
		to = place[1] + len(value)
		name := string(p.Text[place[2]:place[3]])
		functions = append(functions, Function{Name: name, Line: lineOf(place[0]), End: lineOf(to), from: place[1],
			to: to})
	}
	return functions
}

// Function returns the function of that name.
func (p *Page) Function(name string) (Function, bool) {
	functions := p.Functions()
	if i := slices.IndexFunc(functions, func(f Function) bool { return f.Name == name }); i >= 0 {
		return functions[i], true
	}
	return Function{}, false
}

// yours ends the message of a stub's panic.
const yours = " is yours to write"

// Unwritten returns the functions that still panic as in the stub.
func (p *Page) Unwritten() []Function {
	return slices.DeleteFunc(p.Functions(), func(f Function) bool {
		found := false
		switch {
		case f.declaration == nil:
			value, err := strconv.Unquote(strings.TrimSpace(string(p.Text[f.from:f.to])))
			found = err == nil && value == message(value, f.Name)
		case f.declaration.Body != nil:
			ast.Inspect(f.declaration.Body, func(node ast.Node) bool {
				literal, ok := node.(*ast.BasicLit)
				if ok && literal.Kind == token.STRING {
					text, err := strconv.Unquote(literal.Value)
					found = found || err == nil && text == message(text, f.Name)
				}
				return !found
			})
		}
		return !found
	})
}

// message returns the stub's message for a function. lab is what it begins with, up to the colon.
func message(lab, name string) string {
	lab, _, _ = strings.Cut(lab, ":")
	return fmt.Sprintf("%s: %s%s", lab, name, yours)
}

// UnwrittenIn returns the function that a panic message of a stub names.
func UnwrittenIn(text string) (name string, ok bool) {
	before, _, ok := strings.Cut(text, yours)
	if !ok {
		return "", false
	}
	at := strings.LastIndex(before, "lab ")
	if at < 0 {
		return "", false
	}
	_, name, ok = strings.Cut(before[at:], ": ")
	return name, ok
}

func (p *Page) line(at token.Pos) int   { return p.fset.Position(at).Line }
func (p *Page) offset(at token.Pos) int { return p.fset.Position(at).Offset }

// NameOf returns Function or Type.Method.
func NameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := types.ExprString(f.Recv.List[0].Type)
	receiver, _, _ = strings.Cut(strings.TrimPrefix(receiver, "*"), "[")
	return receiver + "." + f.Name.Name
}

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
