package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// benchSubjects are subjects by the names that flags have for them.
type benchSubjects[S interface{ Name() string }] []S

func (s benchSubjects[S]) names() []string {
	names := make([]string, len(s))
	for i, subject := range s {
		names[i] = strings.ReplaceAll(subject.Name(), " ", "-")
	}
	return names
}

// chosen are the subjects of a flag, in the order in which they were given.
func (s benchSubjects[S]) chosen(flag choiceFlag) []S {
	var subjects []S
	for _, name := range flag.chosen {
		subjects = append(subjects, s[slices.Index(s.names(), name)])
	}
	return subjects
}

// designVar adds a flag for the subjects.
func (s benchSubjects[S]) designVar(flags *pflag.FlagSet, c *choiceFlag, usage string) {
	choicesVar(flags, c, "design", "design", s.names(), usage)
}

// runsOf makes a run for each subject; if there are several, each has the name of its subject.
func runsOf[S interface{ Name() string }](subjects []S, run func(S) benchRun) []benchRun {
	var runs []benchRun
	for _, subject := range subjects {
		made := run(subject)
		if len(subjects) > 1 {
			made.design = subject.Name()
		}
		runs = append(runs, made)
	}
	return runs
}
