package course

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Overlay is what differs from the repository.
type Overlay struct {
	// Pages are the learner's files that take part in the build: pages of the lab and files that
	// the learner added. Keys are paths in the repository, with slashes.
	Pages map[string]string
	// Edited are other files of the package that the learner changed, as they are shown. These changes
	// are not used.
	Edited []string

	repository string
	from       string // paths are shown relative to this folder
	replace    map[string]string
	prefixes   []string // what Go may print before a path in the repository
}

// NewOverlay returns the overlay for labs in a repository, by the folders with the learner's files.
// Paths are shown relative to from.
func NewOverlay(repository, from string, folders map[*Lab]string) (*Overlay, error) {
	o := &Overlay{Pages: map[string]string{}, repository: repository, from: from, replace: map[string]string{}}
	o.prefixes = []string{"", "./", "orrery/", repository + "/"}
	for lab, folder := range folders {
		o.prefixes = append(o.prefixes, folder+"/")
		if relative, err := filepath.Rel(repository, folder); err == nil {
			o.prefixes = append(o.prefixes, filepath.ToSlash(relative)+"/")
		}
		if err := o.find(lab, folder); err != nil {
			return nil, err
		}
		if err := o.removeTests(lab); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// find finds the learner's files.
func (o *Overlay) find(lab *Lab, folder string) error {
	pkg := filepath.Join(folder, filepath.FromSlash(lab.Package()))
	entries, err := os.ReadDir(pkg)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, file := path.Join(lab.Package(), entry.Name()), filepath.Join(pkg, entry.Name())
		isPage := lab.Page(name) != nil
		if entry.IsDir() || !isPage && path.Ext(name) != ".go" {
			continue
		}
		original := filepath.Join(o.repository, filepath.FromSlash(name))
		if reference, err := os.ReadFile(original); err != nil || isPage {
			o.Pages[name], o.replace[original] = file, file
		} else if text, err := os.ReadFile(file); err != nil {
			return err
		} else if !bytes.Equal(text, reference) {
			o.Edited = append(o.Edited, o.shown(file))
		}
	}
	for _, page := range lab.Files {
		if o.Pages[page.Path] == "" {
			return fmt.Errorf("%s is gone: %w", page.Path, fs.ErrNotExist)
		}
	}
	return nil
}

// removeTests removes the test files that the manifest does not name.
func (o *Overlay) removeTests(lab *Lab) error {
	dir := filepath.Join(o.repository, filepath.FromSlash(lab.Package()))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_test.go") && !slices.Contains(lab.Tests.Files, entry.Name()) {
			o.replace[filepath.Join(dir, entry.Name())] = ""
		}
	}
	return nil
}

// Write writes the file for -overlay.
func (o *Overlay) Write(file string) error {
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// Show returns how a path of the repository is shown: the learner's file in its place.
func (o *Overlay) Show(name string) string { return o.shown(o.File(name)) }

// shown returns a path relative to the folder where the learner is.
func (o *Overlay) shown(file string) string {
	if relative, err := filepath.Rel(o.from, file); err == nil {
		return filepath.ToSlash(relative)
	}
	return file
}

// File returns the file that takes the place of a path of the repository.
func (o *Overlay) File(name string) string {
	if file, ok := o.Pages[name]; ok {
		return file
	}
	return filepath.Join(o.repository, filepath.FromSlash(name))
}

var goPath = regexp.MustCompile(`[^\s:"'(\[]+\.go\b`)

// Name returns the path in the repository that Go means by a path in its output, and whether that
// is one of the learner's files. For a path outside of the repository it returns "".
func (o *Overlay) Name(printed string) (name string, learners bool) {
	printed = filepath.ToSlash(printed)
	for _, prefix := range o.prefixes {
		rest, ok := strings.CutPrefix(printed, prefix)
		if _, learners := o.Pages[rest]; ok && learners {
			return rest, true
		}
	}
	for _, prefix := range o.prefixes {
		rest, ok := strings.CutPrefix(printed, prefix)
		if !ok {
			continue
		}
		if _, err := os.Stat(filepath.Join(o.repository, filepath.FromSlash(rest))); err == nil &&
			!filepath.IsAbs(rest) {
			return rest, false
		}
	}
	return "", false
}

// Map replaces the paths in Go's output by those that the learner knows.
func (o *Overlay) Map(text string) string {
	return goPath.ReplaceAllStringFunc(text, func(printed string) string {
		if name, _ := o.Name(printed); name != "" {
			return o.Show(name)
		}
		return printed
	})
}

// Canonical replaces paths that end like a page by the page's path in the repository. go vet caches
// what it found with the path of the file that it read first: the same text in another folder.
func (o *Overlay) Canonical(text string) string {
	return goPath.ReplaceAllStringFunc(text, func(printed string) string {
		for name := range o.Pages {
			if strings.HasSuffix(filepath.ToSlash(printed), "/"+name) {
				return name
			}
		}
		return printed
	})
}
