// Package stub turns a page of the reference into the page that a learner begins with: the bodies
// of some functions become a panic, doc comments stay, helpers and unused imports go. It also
// reads a learner's page: what is still to write, and what others miss in it.
package stub

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Page is a parsed Go file.
type Page struct {
	Text []byte
	fset *token.FileSet
	file *ast.File
}

// Parse parses a page. name is for error messages.
func Parse(name string, text []byte) (*Page, error) {
	p := &Page{Text: text, fset: token.NewFileSet()}
	var err error
	p.file, err = parser.ParseFile(p.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return p, err
}

// Function is a function or method of a page.
type Function struct {
	// Name is Function or Type.Method.
	Name string
	// Signature is its declaration without the body, on one line.
	Signature string
	// Line and End are the first and the last line of the declaration, without its comment.
	Line, End int

	declaration *ast.FuncDecl
}

// Exported reports whether other packages can call the function.
func (f Function) Exported() bool {
	for part := range strings.SplitSeq(f.Name, ".") {
		if !ast.IsExported(part) {
			return false
		}
	}
	return true
}

// short returns the name without the type.
func (f Function) short() string { return f.declaration.Name.Name }

// Functions returns all functions in their order.
func (p *Page) Functions() []Function {
	var functions []Function
	for _, declaration := range p.file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			functions = append(functions, Function{
				Name: NameOf(f), Signature: p.signature(f), declaration: f,
				Line: p.line(f.Pos()), End: p.line(f.End()),
			})
		}
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

// FunctionAt returns the name of the function around a line, or "".
func (p *Page) FunctionAt(line int) string {
	for _, f := range p.Functions() {
		if f.Line <= line && line <= f.End {
			return f.Name
		}
	}
	return ""
}

// Body returns the text of a function's body, with its braces.
func (p *Page) Body(f Function) string {
	return string(p.Text[p.offset(f.declaration.Body.Pos()):p.offset(f.declaration.Body.End())])
}

// yours ends the message of a stub's panic.
const yours = " is yours to write"

// Unwritten returns the functions that still panic as in the stub.
func (p *Page) Unwritten() []Function {
	return slices.DeleteFunc(p.Functions(), func(f Function) bool {
		found := false
		if f.declaration.Body != nil {
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

// signature returns the text of a declaration without its body, on one line.
func (p *Page) signature(f *ast.FuncDecl) string {
	text := string(p.Text[p.offset(f.Pos()):p.offset(f.Type.End())])
	return strings.Join(strings.Fields(text), " ")
}

// NameOf returns Function or Type.Method.
func NameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := types.ExprString(f.Recv.List[0].Type)
	receiver, _, _ = strings.Cut(strings.TrimPrefix(receiver, "*"), "[")
	return receiver + "." + f.Name.Name
}
