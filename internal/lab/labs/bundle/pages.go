package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"orrery/internal/lab/labs/work"
)

// PagesFolder is the folder of a kit with the pages as HTML, in the folders of the repository.
const PagesFolder = Folder + "/pages"

// pageFolders have the pages for learners and teachers.
var pageFolders = []string{"docs/learn", "workshop"}

// Pages returns the pages for learners and teachers, in the order of their paths.
func Pages(repository string) (names []string, err error) {
	for _, folder := range pageFolders {
		err := filepath.WalkDir(filepath.Join(repository, filepath.FromSlash(folder)), func(file string, entry fs.DirEntry, err error) error {
			switch relative, _ := filepath.Rel(repository, file); {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case filepath.ToSlash(relative) == work.Path:
				return fs.SkipDir
			case strings.HasSuffix(file, ".md"):
				names = append(names, filepath.ToSlash(relative))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// pages returns the pages of the repository as HTML, and a list of them.
func pages(repository string) (entries []entry, err error) {
	names, err := Pages(repository)
	if err != nil {
		return nil, err
	}
	var list strings.Builder
	for _, name := range names {
		source, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		page, err := render(name, source, names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		entries = append(entries, entry{part: PagesPart, name: path.Join(PagesFolder, htmlName(name)), text: page, mode: 0o644})
		fmt.Fprintf(&list, "<li><a href=%q>%s</a> <code>%s</code></li>\n", htmlName(name), html.EscapeString(title(source)), name)
	}
	index := document("en", "Orrery", "<h1>Orrery</h1>\n<ul>\n"+list.String()+"</ul>\n")
	return append(entries, entry{part: PagesPart, name: PagesFolder + "/index.html", text: index, mode: 0o644}), nil
}

func htmlName(name string) string { return strings.TrimSuffix(name, ".md") + ".html" }

// title returns the first heading of a page.
func title(source []byte) string {
	for line := range strings.Lines(string(source)) {
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(heading)
		}
	}
	return ""
}

// eastAsian joins the lines of a Chinese paragraph without a space.
var eastAsian = extension.NewCJK(extension.WithEastAsianLineBreaks())

// render returns a page as HTML. names are all pages.
func render(name string, source []byte, names []string) ([]byte, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table, eastAsian), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	context := parser.NewContext(parser.WithIDs(&headings{}))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	err := ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Link:
			node.Destination = []byte(destination(name, string(node.Destination), names))
		case *ast.Image:
			node.Destination = []byte(destination(name, string(node.Destination), names))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, tree); err != nil {
		return nil, err
	}
	lang := "en"
	if strings.HasSuffix(name, ".zh-CN.md") {
		lang = "zh-CN"
	}
	return document(lang, title(source), body.String()), nil
}

// destination returns where a link of the page leads from the HTML: to another page, or to the file
// in the repository.
func destination(from, link string, names []string) string {
	target, err := url.Parse(link)
	if err != nil || target.Scheme != "" || target.Path == "" {
		return link
	}
	file := path.Join(path.Dir(from), target.Path)
	if slices.Contains(names, file) {
		target.Path = htmlName(target.Path)
		return target.String()
	}
	folders := strings.Count(PagesFolder+"/"+from, "/")
	target.Path = strings.Repeat("../", folders) + file
	return target.String()
}

// headings gives headings the fragments that a code host gives them. It is a [parser.IDs].
type headings struct{ used []string }

var dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate returns the fragment of a heading.
func (h *headings) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(string(value)), ""), " ", "-")
	unique := slug
	for i := 1; slices.Contains(h.used, unique); i++ {
		unique = fmt.Sprintf("%s-%d", slug, i)
	}
	h.Put([]byte(unique))
	return []byte(unique)
}

// Put notes that a fragment is taken.
func (h *headings) Put(value []byte) { h.used = append(h.used, string(value)) }

// document returns an HTML document.
func document(lang, title, body string) []byte {
	return fmt.Appendf(nil, `<!DOCTYPE html>
<html lang=%q>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>%s</title>
<style>
body { max-width: 50em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 system-ui, sans-serif; }
pre { overflow-x: auto; padding: .8em; background: #f4f4f4; line-height: 1.3; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: left; vertical-align: top; }
img { max-width: 100%%; }
</style>
%s</html>
`, lang, html.EscapeString(title), body)
}
