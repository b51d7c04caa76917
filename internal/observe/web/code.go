package web

import (
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"orrery/controller/gears"
)

// Place is where a function of a gear is declared.
type Place struct {
	// Name is Function or Type.Method.
	Name string `json:"name"`
	// File is its file in the repository, or the learner's file.
	File string `json:"file"`
	// Line is that of the declaration, and Text the function with its comment.
	Line int    `json:"line"`
	Text string `json:"text"`
	// Yours reports that the learner has written the file.
	Yours bool `json:"yours,omitempty"`
}

// Code has the source files of the gears that run, in which it finds the function that calls a
// hook: which one it is in the form that runs, where it stands, and its text. code.yaml names the
// functions.
type Code struct {
	// Files has the repository's files. Without them no function is found.
	Files fs.FS
	// Yours has the learner's pages, by the path in the repository that each stands for.
	Yours map[string]YourPage
}

// YourPage is a file that a learner has written.
type YourPage struct {
	File string // its path, as it is shown
	Text []byte // nil: Files has it at the path that it stands for
}

//go:embed code.yaml
var listText []byte

// list has the functions by event and form, as in "queue/fast.Queue.Get".
var list = sync.OnceValue(func() (all map[string]map[string]string) {
	if err := yaml.Unmarshal(listText, &all); err != nil {
		panic(fmt.Sprintf("code.yaml: %v", err)) // it is embedded
	}
	return all
})

const (
	anyForm = "any" // stands for every form
	never   = "-"   // is the function of a form that never calls the hook
)

// Find returns the place of each event for a set of gears, such as "fast,queue=textbook". An event
// of a phase is named "nsctl.phaseStarted/pods". A function that the source does not declare is
// left out: a learner may have renamed it.
func (c Code) Find(set string) (map[string]Place, error) {
	chosen, err := gears.Parse(set)
	if err != nil {
		return nil, err
	}
	found, packages := map[string]Place{}, map[string]map[string]Place{}
	if c.Files == nil {
		return found, nil
	}
	for event, forms := range list() {
		gear, _, _ := strings.Cut(event, ".")
		function := cmp.Or(forms[chosen.Form(gear)], forms[anyForm])
		if function == "" || function == never {
			continue
		}
		parent, last := path.Split(function)
		last, name, _ := strings.Cut(last, ".")
		dir := parent + last
		if packages[dir] == nil {
			packages[dir] = c.read(dir)
		}
		if place, ok := packages[dir][name]; ok {
			found[event] = place
		}
	}
	return found, nil
}

// read returns the functions of a package by name. A file that cannot be read has none.
func (c Code) read(dir string) map[string]Place {
	texts := map[string][]byte{} // by path
	names, _ := fs.Glob(c.Files, dir+"/*.go")
	for _, name := range names {
		texts[name], _ = fs.ReadFile(c.Files, name)
	}
	for name, page := range c.Yours {
		if path.Dir(name) == dir && page.Text != nil {
			texts[name] = page.Text
		}
	}
	found := map[string]Place{}
	for name, text := range texts {
		if !strings.HasSuffix(name, "_test.go") {
			c.add(found, name, string(text))
		}
	}
	return found
}

// declaration matches the beginning of a function as gofmt writes it: its comment, the type of its
// receiver and its name. Package go/parser could read any form, but would make the program, all of
// which is in memory, larger by a fiftieth.
var declaration = regexp.MustCompile(
	`(?m)((?:^//.*\n)*)^func\s*(?:\(\s*(?:\w+\s+)?\*?(\w+)[^)]*\)\s*)?(\w+)[\[(]`)

// add adds the functions of a file.
func (c Code) add(found map[string]Place, name, text string) {
	page, yours := c.Yours[name]
	shown := name
	if yours {
		shown = page.File
	}
	for _, at := range declaration.FindAllStringSubmatchIndex(text, -1) {
		comment := text[at[2]:at[3]]
		full := text[at[6]:at[7]]
		if at[4] >= 0 {
			full = text[at[4]:at[5]] + "." + full
		}
		found[full] = Place{
			Name: full, File: shown, Line: 1 + strings.Count(text[:at[3]], "\n"),
			Text: comment + function(text[at[3]:]), Yours: yours,
		}
	}
}

// function returns the function with which a text begins. It ends in its first line, or in the next
// line that begins with a brace.
func function(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if strings.HasSuffix(strings.TrimSpace(line), "}") {
		return line
	}
	if end := strings.Index(text, "\n}"); end >= 0 {
		return text[:end+len("\n}")]
	}
	return text
}
