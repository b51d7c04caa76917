package course

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// FolderPath is where the folder is, relative to the repository.
const FolderPath = "workshop/work"

// Agents is the file with rules for coding assistants, relative to the repository. The folder has a
// copy, because an assistant that is opened there reads it.
const Agents = "workshop/AGENTS.md"

// baseFolder is the folder in a lab's folder with the original pages.
const baseFolder = ".base"

// Folder is the learner's folder of one repository.
type Folder struct {
	Repository string
	Dir        string
}

// FolderIn returns the folder of a repository.
func FolderIn(repository string) Folder {
	return Folder{repository, filepath.Join(repository, filepath.FromSlash(FolderPath))}
}

// Of returns the folder of a lab.
func (f Folder) Of(lab *Lab) string { return filepath.Join(f.Dir, lab.Name) }

// Page returns the path of the learner's copy of a file of the repository.
func (f Folder) Page(lab *Lab, file string) string {
	return filepath.Join(f.Of(lab), filepath.FromSlash(file))
}

// Base returns the path of the original of a page, as it was when the lab was started.
func (f Folder) Base(lab *Lab, file string) string {
	return filepath.Join(f.Of(lab), baseFolder, filepath.FromSlash(file))
}

// Started reports whether the lab has a folder.
func (f Folder) Started(lab *Lab) bool {
	_, err := os.Stat(f.Of(lab))
	return err == nil
}

// Gone returns the path of the first page that is not there any more, or "".
func (f Folder) Gone(lab *Lab) string {
	for _, file := range lab.Files {
		page := f.Page(lab, file.Path)
		if _, err := os.Stat(page); errors.Is(err, fs.ErrNotExist) {
			return page
		}
	}
	return ""
}

// Start writes the stubs of a lab, and the package around them for the editor. An earlier folder
// of the lab is kept; backup is its new name, or "".
func (f Folder) Start(lab *Lab) (backup string, err error) {
	files, err := f.files(lab)
	if err != nil {
		return "", err
	}
	if err := f.writeModule(); err != nil {
		return "", err
	}
	if _, err := os.Stat(f.Of(lab)); err == nil {
		if backup, err = f.keep(lab); err != nil {
			return "", err
		}
	}
	for _, file := range files {
		if err := WriteFile(filepath.Join(f.Of(lab), file.path), file.text, file.mode); err != nil {
			return "", err
		}
	}
	return backup, nil
}

// file is a file of a lab's folder.
type file struct {
	path string
	text []byte
	mode fs.FileMode
}

// files returns the content of a lab's new folder: stubs, originals, and the other files of the
// package to read, with the files that it may embed.
func (f Folder) files(lab *Lab) ([]file, error) {
	entries, err := os.ReadDir(filepath.Join(f.Repository, filepath.FromSlash(lab.Package())))
	if err != nil {
		return nil, err
	}
	var files []file
	for _, entry := range entries {
		name := lab.Package() + "/" + entry.Name()
		source := slices.Contains([]string{".yaml", ".json", ".go"}, path.Ext(name)) &&
			!strings.HasSuffix(name, "_test.go")
		if entry.IsDir() || !source {
			continue
		}
		text, err := os.ReadFile(filepath.Join(f.Repository, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		page := lab.Page(name)
		if page == nil {
			files = append(files, file{name, text, 0o444})
			continue
		}
		parsed, err := ParsePage(name, text)
		if err != nil {
			return nil, err
		}
		stubbed, err := parsed.Make(lab.ID, page.Write, page.Remove)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, file{name, stubbed, 0o644}, file{filepath.Join(baseFolder, name), text, 0o444})
	}
	return files, nil
}

// keep renames the folder of a lab to the next free backup name, and returns that.
func (f Folder) keep(lab *Lab) (string, error) {
	for i := 1; ; i++ {
		backup := fmt.Sprintf("%s.bak-%d", f.Of(lab), i)
		if _, err := os.Lstat(backup); errors.Is(err, fs.ErrNotExist) {
			return backup, os.Rename(f.Of(lab), backup)
		} else if err != nil {
			return "", err
		}
	}
}

// WriteFile writes a file and its folders.
func WriteFile(path string, text []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, mode)
}

// moduleName begins with the main module's name, so that the copies may import its internal
// packages.
const moduleName = "orrery/workshop/work"

// writeModule writes the rules for coding assistants, go.mod and go.sum: the main module's
// requirements, and the main module itself in place. So an editor understands the learner's files,
// and "./..." in the repository skips them.
func (f Folder) writeModule() error {
	for _, name := range []string{Agents, "go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(f.Repository, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if name == "go.mod" {
			_, rest, _ := strings.Cut(string(text), "\n")
			text = []byte("module " + moduleName + "\n" + rest + "\nrequire orrery v0.0.0\n\nreplace orrery => ../..\n")
		}
		if err := WriteFile(filepath.Join(f.Dir, path.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// FindRepository returns the repository around a folder.
func FindRepository(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if name, _, _ := strings.Cut(string(text), "\n"); err == nil && strings.TrimSpace(name) == "module orrery" {
			return dir, nil
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return "", ErrNoRepository
	}
}

// ErrNoRepository reports that the current folder is outside of a repository of this project.
var ErrNoRepository = errors.New("this folder is not inside the repository of Orrery")

// Progress is what the learner has done, by the labs' ids.
type Progress map[string]LabProgress

// LabProgress is what the learner has done in one lab.
type LabProgress struct {
	// Started is zero if the learner has only answered questions.
	Started time.Time `json:"started,omitzero"`
	// Passed is when all steps passed with the present files; zero if they did not.
	Passed time.Time `json:"passed,omitzero"`
	// Solved reports that all steps have passed since the lab was started, whatever came later.
	Solved bool `json:"solved,omitempty"`
	// Steps maps passed steps to the hash of the files with which they passed.
	Steps map[string]string `json:"steps,omitempty"`
	// Failed is the first failure of the last test: lab hint reads it.
	Failed *FailedTest `json:"failed,omitempty"`
	// Hints counts the rungs that were shown.
	Hints int `json:"hints,omitempty"`
	// HintShown is the id of the state-aware hint that was shown last.
	HintShown string `json:"hintShown,omitempty"`
	// Answers maps questions to the learner's choices.
	Answers map[string]string `json:"answers,omitempty"`
}

// FailedTest is the first test that failed.
type FailedTest struct {
	// Test is empty if no test failed: the page does not compile, or go vet found a mistake.
	Test string `json:"test"`
	// Output is the kind of the failure on a line, and then what the test printed.
	Output string `json:"output"`
}

// Kind returns the kind of the failure, a check.Kind; "" if f is nil.
func (f *FailedTest) Kind() string {
	if f == nil {
		return ""
	}
	kind, _, _ := strings.Cut(f.Output, "\n")
	return kind
}

// Fail records the first failure of a test, or nil. Another failure than before gets its hint
// again, and so does each page that does not compile.
func (p *LabProgress) Fail(failed *FailedTest) {
	same := failed != nil && p.Failed != nil && failed.Test != "" && failed.Test == p.Failed.Test &&
		failed.Kind() == p.Failed.Kind()
	if !same {
		p.HintShown = ""
	}
	p.Failed = failed
}

func (f Folder) progressFile() string { return filepath.Join(f.Dir, "progress.json") }

// ErrBadProgress reports that the file of the progress cannot be read.
var ErrBadProgress = errors.New("progress.json cannot be read")

// Progress reads the progress.
func (f Folder) Progress() (Progress, error) {
	progress := Progress{}
	text, err := os.ReadFile(f.progressFile())
	if errors.Is(err, fs.ErrNotExist) {
		return progress, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &progress); err != nil || progress == nil {
		return nil, ErrBadProgress
	}
	return progress, nil
}

// Update changes the progress of one lab. The file is replaced at once, so an interruption leaves
// the former or the new one.
func (f Folder) Update(id string, change func(*LabProgress)) error {
	progress, err := f.Progress()
	if err != nil {
		return err
	}
	lab := progress[id]
	change(&lab)
	progress[id] = lab
	text, err := json.MarshalIndent(progress, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.Dir, "progress-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), f.progressFile())
}
