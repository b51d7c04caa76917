package main

import (
	"fmt"
	"path/filepath"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/course/play"
)

// choice is what "lab run" runs: the script of a lab, or the whole runtime.
type choice struct {
	lab *course.Lab // nil: the whole runtime
	run course.Run
	// labs are those whose pages take part.
	labs []*course.Lab
	// log is the file for the controller's log.
	log string
}

// inProgram reports whether the pages are a part of the program.
func (c *choice) inProgram() bool { return c.lab == nil || c.lab.IsCode() }

// version returns the version of the program that has these pages: lab-03-08.
func (c *choice) version() string {
	version := "lab"
	for _, lab := range c.labs {
		version += "-" + lab.ID
	}
	return version
}

// choose returns what the arguments ask for, and says which labs take part.
func (s *session) choose(args []string, all bool) (*choice, error) {
	c := &choice{run: play.Whole(), log: filepath.Join(s.folder.Dir, "run.log")}
	if len(args) > 0 || !all || s.around() != nil {
		lab, err := s.started(args)
		if err != nil {
			return nil, err
		}
		c.lab, c.run, c.labs, c.log = lab, lab.Run, []*course.Lab{lab}, filepath.Join(s.folder.Of(lab), "run.log")
	}
	if all {
		others, err := s.passed(c)
		if err != nil {
			return nil, err
		}
		if c.labs = append(c.labs, others...); len(others) == 0 && c.lab != nil {
			s.print("run-all-none")
		}
		for _, other := range others {
			s.print("run-with", other.ID, other.Title.In(s.lang))
		}
	}
	if len(c.labs) == 0 {
		return nil, s.refuse("run-none-passed")
	}
	return c, nil
}

// passed returns the other labs that have passed and whose pages the run uses.
func (s *session) passed(c *choice) (passed []*course.Lab, err error) {
	progress, err := s.folder.Progress()
	if err != nil {
		return nil, s.readable(err)
	}
	for _, other := range s.labs {
		p, known := progress[other.ID]
		switch {
		case other == c.lab || !known || !s.folder.Started(other) || !c.run.Uses(other):
		case p.Passed.IsZero():
			s.print("run-left-out", other.ID, other.Title.In(s.lang))
		default:
			passed = append(passed, other)
		}
	}
	return passed, nil
}

// written prints the functions that are still stubs. If there is one, the exit code is that of a
// failed test.
func (s *session) written(labs []*course.Lab) (err error) {
	for _, lab := range labs {
		if !lab.IsCode() {
			continue
		}
		if err := s.complete(lab); err != nil {
			return err
		}
		unwritten, failed := check.Stubs(check.Options{Repository: s.folder.Repository, Lab: lab,
			Folder: s.folder.Of(lab), From: s.here})
		if failed != nil {
			return usage(failed)
		}
		for _, f := range unwritten {
			s.print("still-to-write", fmt.Sprintf("%s (%s)", f.Function, f.Place))
			err = program.Exit(exitFailed)
		}
	}
	return err
}
