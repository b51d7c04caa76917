package course

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

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
