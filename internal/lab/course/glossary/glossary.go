// Package glossary reads workshop/glossary.yaml: the terms of the course in both languages. The
// tables of docs/learn/glossary.md and its Chinese page are written from it.
package glossary

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"orrery/internal/lab/course/manifest"
	"orrery/internal/lab/course/texts"
)

// File is the file of the terms, relative to the repository.
const File = "workshop/glossary.yaml"

// Glossary is the content of the file.
type Glossary struct {
	// Title and Intro begin the pages in docs/learn.
	Title texts.Text `yaml:"title"`
	Intro texts.Text `yaml:"intro"`
	// View has the terms of each box of the live view, by their English names: first what the box is.
	View map[string][]string `yaml:"view"`
	// Terms are in alphabetical order of the English terms.
	Terms []Term `yaml:"terms"`
}

// Term is a term with its meaning.
type Term struct {
	Name       texts.Text `yaml:"term"`
	texts.Text `yaml:",inline"`
	// Not is what the term is not to be confused with.
	Not texts.Text `yaml:"not"`
	// Labs are the ids of the labs that explain it.
	Labs []string `yaml:"labs"`
	// Code is a file, or a declaration in it as in "deltafifo/fifo.go: DeltaFIFO.Pop".
	Code string `yaml:"code"`
}

// Load reads the glossary of a repository.
func Load(repository string) (*Glossary, error) {
	g := &Glossary{}
	return g, manifest.Read(filepath.Join(repository, filepath.FromSlash(File)), g)
}

// Page returns the path of the glossary's page in a language, relative to the repository.
func Page(lang texts.Lang) string {
	if lang == texts.Chinese {
		return "docs/learn/glossary.zh-CN.md"
	}
	return "docs/learn/glossary.md"
}

// words of the page in each language: the heading of the table, what stands before the confusion,
// and the end of a sentence.
var words = map[texts.Lang]struct{ head, other, not, stop string }{
	texts.English: {"| term | in Chinese | meaning | labs | code |", "[中文](glossary.zh-CN.md)", " Not ", "."},
	texts.Chinese: {"| 术语 | 英文 | 含义 | 实验 | 代码 |", "[English](glossary.md)", "别和它混淆：", "。"},
}

// Markdown returns the page of the glossary in a language.
func (g *Glossary) Markdown(lang texts.Lang) string {
	w := words[lang]
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n\n%s\n| --- | --- | --- | --- | --- |\n", g.Title.In(lang), w.other, g.Intro.In(lang), w.head)
	for _, term := range g.Terms {
		meaning := term.In(lang)
		if term.Not.Complete() {
			meaning += w.not + term.Not.In(lang) + w.stop
		}
		file, name, _ := strings.Cut(term.Code, ": ")
		code := fmt.Sprintf("[%s](%s)", file, path.Join("../..", file))
		if name != "" {
			code += ": " + name
		}
		other := texts.Chinese
		if lang == texts.Chinese {
			other = texts.English
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", term.Name.In(lang), term.Name.In(other), meaning, strings.Join(term.Labs, " "), code)
	}
	return b.String()
}

// ViewFile is the file from which the page of the live view has its terms, relative to the
// repository.
const ViewFile = "internal/observe/web/view/page/glossary.json"

// ViewJSON returns its content: by box and language, each term with its meaning.
func (g *Glossary) ViewJSON() string {
	boxes := map[string][]map[texts.Lang][2]string{}
	for box, names := range g.View {
		for _, name := range names {
			for _, term := range g.Terms {
				if term.Name.English == name {
					entry := map[texts.Lang][2]string{}
					for _, lang := range texts.Langs {
						entry[lang] = [2]string{term.Name.In(lang), term.In(lang)}
					}
					boxes[box] = append(boxes[box], entry)
				}
			}
		}
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(boxes) // strings only
	return b.String()
}
