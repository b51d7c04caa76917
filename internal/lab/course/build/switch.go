package build

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// Version is a page of which some functions have other bodies.
type Version struct {
	Name string
	Page *Page
}

// Switch returns the page with the bodies of several versions of it. The variable of that name, a
// string, chooses a version when the program runs; with any other value the page is as before.
// Versions that differ in more than bodies are left out, and their names returned.
func (p *Page) Switch(variable string, versions []Version) (text []byte, left []string) {
	bodies := map[string]string{}
	for _, version := range versions {
		changed, ok := p.changed(version.Page)
		if !ok {
			left = append(left, version.Name)
			continue
		}
		for name, body := range changed {
			bodies[name] += fmt.Sprintf("\nif %s == %q %s\n", variable, version.Name, body)
		}
	}
	var cuts []cut
	for _, f := range p.Functions() {
		if body := bodies[f.Name]; body != "" {
			cuts = append(cuts, cut{f.from + 1, f.from + 1, body})
		}
	}
	return apply(p.Text, cuts), left
}

// Package returns the name of the page's package.
func (p *Page) Package() string {
	if p.file == nil {
		return ""
	}
	return p.file.Name.Name
}

// changed returns the bodies of a version that differ from the page's, each so that nothing is done
// after it. ok is false if more than bodies differs.
func (p *Page) changed(version *Page) (bodies map[string]string, ok bool) {
	if p.file == nil || p.withoutBodies() != version.withoutBodies() || !p.imports(version) {
		return nil, false
	}
	bodies = map[string]string{}
	before := p.Functions()
	for i, f := range version.Functions() { // in the order of the page's: the rest is the same
		body := version.Body(f)
		if body == p.Body(before[i]) {
			continue
		}
		if hasLabel(f.declaration) { // which would be there twice
			return nil, false
		}
		if f.declaration.Type.Results == nil {
			body = strings.TrimSuffix(body, "}") + "\nreturn\n}"
		}
		bodies[f.Name] = body
	}
	return bodies, true
}

// withoutBodies returns the words of the page without the bodies of its functions and its imports.
func (p *Page) withoutBodies() string {
	var cuts []cut
	for _, f := range p.Functions() {
		if f.to > 0 {
			cuts = append(cuts, cut{f.from, f.to, ""})
		}
	}
	for _, declaration := range p.file.Decls {
		if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			cuts = append(cuts, p.cut(d.Pos(), d.End(), ""))
		}
	}
	return strings.Join(strings.Fields(string(apply(p.Text, cuts))), " ")
}

// imports reports whether the page imports all that a version of it does.
func (p *Page) imports(version *Page) bool {
	all := map[string]bool{}
	for _, spec := range p.file.Imports {
		all[spec.Path.Value] = true
	}
	for _, spec := range version.file.Imports {
		if !all[spec.Path.Value] {
			return false
		}
	}
	return true
}

func hasLabel(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f.Body, func(node ast.Node) bool {
		_, is := node.(*ast.LabeledStmt)
		found = found || is
		return !found
	})
	return found
}
