// Package check is "lab test": it compares the learner's page with the reference, builds the tests
// with it, runs the steps up to the first that fails, and returns a report. The report turns what a
// step printed into what a learner should see: the test that failed and its sentence, and of
// stacks, dumps and race reports only the frames in the learner's files. The package also chooses
// the hints of "lab hint", and is "lab verify": [Verify] checks the labs themselves.
package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/course"
)

// Options say what is tested and how.
type Options struct {
	Repository string
	Lab        *course.Lab
	// Folder has the learner's files, at their paths in the repository.
	Folder string
	// From is the folder relative to which paths are shown.
	From string
	// Race builds with the race detector.
	Race bool
	// Quick leaves go vet out.
	Quick bool
	// LimitFactor multiplies the time limits of steps, for a busy machine.
	LimitFactor int
}

// Run tests the learner's files. A page that does not compile is a report, not an error.
func Run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	lay, err := o.overlay()
	if err != nil {
		return nil, err
	}
	r := &Report{Lab: o.Lab.ID, Race: o.Race, Edited: lay.Edited}
	for _, step := range o.Lab.Tests.Steps {
		r.Steps = append(r.Steps, Step{Name: step.Name, State: Open})
	}
	pages, err := o.read(lay, r)
	if err == nil {
		err = o.test(ctx, lay, pages, r)
	}
	r.Seconds = time.Since(began).Seconds()
	r.Passed = err == nil && r.Done() == len(r.Steps) && len(r.Vet) == 0
	return r, err
}

// Stubs returns the functions that are still stubs. A page that cannot be parsed has none.
func Stubs(o Options) ([]Frame, error) {
	lay, err := o.overlay()
	if err != nil {
		return nil, err
	}
	r := &Report{}
	_, err = o.read(lay, r)
	return r.Unwritten, err
}

func (o Options) overlay() (*course.Overlay, error) {
	return course.NewOverlay(o.Repository, o.From, map[*course.Lab]string{o.Lab: o.Folder})
}

// page is a page of the lab: the reference, and the learner's form.
type page struct {
	name        string
	base, yours *course.Page
}

// read parses the learner's pages and compares them with the reference. A page that cannot be
// parsed is left to the compiler.
func (o Options) read(lay *course.Overlay, r *Report) (pages []page, err error) {
	for _, file := range o.Lab.Files {
		base, err := parse(filepath.Join(o.Repository, filepath.FromSlash(file.Path)))
		if err != nil {
			return nil, err
		}
		yours, err := parse(lay.File(file.Path))
		if err != nil {
			continue
		}
		pages = append(pages, page{file.Path, base, yours})
		for _, f := range yours.Unwritten() {
			r.Unwritten = append(r.Unwritten, frame(lay, file.Path, f))
		}
		if original, err := os.ReadFile(filepath.Join(o.Folder, ".base", filepath.FromSlash(file.Path))); err == nil &&
			string(original) != string(base.Text) {
			r.Changed = append(r.Changed, file.Path)
		}
	}
	return pages, nil
}

func parse(file string) (*course.Page, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return course.ParsePage(file, text)
}

func frame(lay *course.Overlay, name string, f course.Function) Frame {
	return Frame{Place: Place{File: lay.Show(name), Line: f.Line}, Function: f.Name}
}

// test builds the tests and runs the steps, with go vet beside.
func (o Options) test(ctx context.Context, lay *course.Overlay, pages []page, r *Report) error {
	dir, err := os.MkdirTemp("", "orrery-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	target := course.Build{Repository: o.Repository, Package: o.Lab.Package(),
		Overlay: filepath.Join(dir, "overlay.json"), Race: o.Race}
	if err := lay.Write(target.Overlay); err != nil {
		return err
	}
	var findings []string
	var vetError error
	var vet sync.WaitGroup
	if !o.Quick {
		vet.Go(func() { findings, vetError = target.Vet(ctx) })
	}
	tests := course.TestBinary{
		Binary: filepath.Join(dir, "lab.test"), LimitFactor: o.LimitFactor,
		Dir: filepath.Join(o.Repository, filepath.FromSlash(o.Lab.Package())),
	}
	output, ok, err := target.Test(ctx, tests.Binary)
	if err == nil && ok {
		err = o.run(ctx, tests, lay, pages, r)
	}
	vet.Wait()
	if err := errors.Join(err, vetError); err != nil {
		return err
	}
	if !ok {
		r.Build, r.NoModule = Compiler(output, lay)
		return nil
	}
	r.Vet, _ = Compiler(lay.Canonical(strings.Join(findings, "\n")), lay)
	return nil
}

// run runs the steps.
func (o Options) run(ctx context.Context, tests course.TestBinary, lay *course.Overlay, pages []page, r *Report) error {
	for i, step := range o.Lab.Tests.Steps {
		result, err := tests.Run(ctx, step, o.Lab.Tests.Steps[:i])
		if err != nil {
			return err
		}
		if result.Passed {
			r.Steps[i].State = Passed
			r.Tests += strings.Count(result.Output, "--- PASS: ")
			continue
		}
		r.Steps[i].State = Failed
		r.Failure = Explain(result, lay)
		if hint := hintFor(o.Lab, FailureOf(r)); hint != nil {
			r.Hint = hint.ID
		}
		if len(r.Failure.Stacks) == 0 && r.Failure.Kind != Unwritten {
			r.Look = look(lay, pages, suspects(o.Lab, pages, step, r))
		}
		return nil
	}
	return nil
}

// suspects returns the functions that a failure points at: those that the planted wrong solutions
// with its hint change, or without a hint those with its test. A failure that is like none of them
// points at the functions of its step.
func suspects(lab *course.Lab, pages []page, step course.Step, r *Report) (names []string) {
	for _, mutant := range lab.Mutants {
		if r.Hint == mutant.Hint || r.Hint == "" && r.Failure.Test == mutant.KilledBy {
			names = append(names, changed(mutant, pages)...)
		}
	}
	if len(names) == 0 {
		return step.Functions
	}
	return names
}

// changed returns the functions of the reference that a planted wrong solution changes.
func changed(mutant course.Mutant, pages []page) (names []string) {
	for _, edit := range mutant.Edits {
		for _, page := range pages {
			before, _, found := strings.Cut(string(page.base.Text), edit.Find)
			line := 1 + strings.Count(before, "\n")
			for _, f := range page.base.Functions() {
				if found && page.name == edit.File && f.Line <= line && line <= f.End {
					names = append(names, f.Name)
				}
			}
		}
	}
	return names
}

// look returns where functions are in the learner's pages, in the order of the names.
func look(lay *course.Overlay, pages []page, names []string) (frames []Frame) {
	for _, name := range names {
		for _, page := range pages {
			f, found := page.yours.Function(name)
			if at := frame(lay, page.name, f); found && !slices.Contains(frames, at) {
				frames = append(frames, at)
			}
		}
	}
	return frames
}

// FailureOf returns the failure of a report for the learner's progress, or nil.
func FailureOf(r *Report) *course.FailedTest {
	switch {
	case len(r.Build) > 0 || r.NoModule != "":
		return &course.FailedTest{Output: string(Build)}
	case r.Failure == nil && len(r.Vet) > 0:
		return &course.FailedTest{Output: string(Vet)}
	case r.Failure == nil:
		return nil
	}
	return &course.FailedTest{Test: r.Failure.Test,
		Output: strings.Join(append([]string{string(r.Failure.Kind)}, r.Failure.Lines...), "\n")}
}
