// Package glossary reads workshop/glossary.yaml: the terms of the course in both languages. The
// tables of docs/learn/glossary.md and its Chinese page are written from it.
package glossary

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orrery/internal/lab/labs/anchor"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
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

// Problems returns what is wrong with the glossary itself. planned are ids of labs that have no
// manifest yet.
func (g *Glossary) Problems(repository string, labs []*manifest.Lab, planned []string) (problems []string) {
	known := slices.Clone(planned)
	for _, lab := range labs {
		known = append(known, lab.ID)
	}
	for box, names := range g.View {
		for _, name := range names {
			if !slices.ContainsFunc(g.Terms, func(term Term) bool { return term.Name.English == name }) {
				problems = append(problems, fmt.Sprintf("%s: view: %s: there is no term %q", File, box, name))
			}
		}
	}
	last := ""
	for _, term := range g.Terms {
		report := func(bad bool, what string) {
			if bad {
				problems = append(problems, fmt.Sprintf("%s: %s: %s", File, term.Name.English, what))
			}
		}
		report(!term.Name.Complete() || !term.Complete(), "a language is missing")
		report(term.Not != texts.Text{} && !term.Not.Complete(), "a language of not is missing")
		report(!strings.HasSuffix(term.In(texts.English), ".") || !strings.HasSuffix(term.In(texts.Chinese), "。"), "the meaning has to be sentences")
		report(strings.ToLower(term.Name.English) <= last, "it is out of order, or occurs twice")
		last = strings.ToLower(term.Name.English)
		for _, id := range term.Labs {
			report(!slices.Contains(known, id), "there is no lab "+id)
		}
		if _, err := anchor.Resolve(repository, term.Code); err != nil {
			report(true, err.Error())
		}
	}
	return problems
}
