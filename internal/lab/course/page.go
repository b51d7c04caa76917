package course

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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
