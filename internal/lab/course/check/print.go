package check

import (
	"fmt"
	"io"
	"strings"

	"orrery/internal/lab/course"
	"orrery/internal/words"
)

// State is how far a step is.
type State string

const (
	Passed State = "passed"
	Failed State = "failed"
	Open   State = "open" // not run
)

// Step is a step with its state.
type Step struct {
	Name  string
	State State
}

// Report is the result of "lab test".
type Report struct {
	Lab string
	// Passed reports that every step passed and go vet found nothing.
	Passed bool
	Steps  []Step
	// Tests is how many tests passed in the steps that passed, subtests included.
	Tests   int
	Seconds float64
	// Race reports whether the race detector took part.
	Race bool

	// Build and NoModule say why the build failed: errors of the compiler, an import without a
	// module.
	Build    []BuildError
	NoModule string

	Failure *Failure
	// Look are the functions that the failure is about.
	Look []Frame
	// Unwritten are all functions that are still stubs.
	Unwritten []Frame
	// Hint is the id of the hint for this failure.
	Hint string

	Vet []BuildError
	// Edited are other files of the package whose changes are not used.
	Edited []string
	// Changed are pages of the reference that are not as they were when the lab was started.
	Changed []string
}

// Done returns the number of steps that passed.
func (r *Report) Done() int {
	done := 0
	for _, step := range r.Steps {
		if step.State == Passed {
			done++
		}
	}
	return done
}

// marks of the states.
var marks = map[State]string{Passed: "✔", Failed: "✘", Open: "·"}

// Print writes the report for a learner.
func (r *Report) Print(w io.Writer, lang words.Lang) {
	say := func(name string, arguments ...any) { fmt.Fprintln(w, course.Say(lang, name, arguments...)) }
	var strip []string
	for _, step := range r.Steps {
		strip = append(strip, marks[step.State]+" "+step.Name)
	}
	fmt.Fprintf(w, "  %s   %s\n", strings.Join(strip, "   "),
		course.Say(lang, "steps-done", r.Done(), len(r.Steps), r.Seconds))
	r.PrintBuild(w, lang)
	if r.Failure != nil {
		r.Failure.Print(w, lang, r.Unwritten)
	}
	for _, at := range r.Look {
		fmt.Fprintf(w, "  %s  %s\n", at.Place, at.Function)
	}
	if r.Hint != "" {
		say("hint-matches", r.Lab)
	}
	if len(r.Vet) > 0 {
		say("vet-found")
		printErrors(w, r.Vet)
	}
	for _, file := range r.Edited {
		say("context-edited", file, r.Lab)
	}
	for _, file := range r.Changed {
		say("reference-changed", file, r.Lab)
	}
	if !r.Race && len(r.Build) == 0 {
		say("no-race-detector")
	}
	if r.Passed {
		say("all-passed", r.Lab)
	}
}

// PrintBuild writes why the build failed.
func (r *Report) PrintBuild(w io.Writer, lang words.Lang) {
	if r.NoModule != "" {
		fmt.Fprintln(w, course.Say(lang, "no-module", r.NoModule))
		return
	}
	if len(r.Build) > 0 {
		fmt.Fprintln(w, course.Say(lang, "does-not-compile"))
		printErrors(w, r.Build)
	}
}

func printErrors(w io.Writer, errors []BuildError) {
	for _, e := range errors {
		if e.File == "" {
			fmt.Fprintf(w, "  %s\n", e.Message)
			continue
		}
		fmt.Fprintf(w, "  %s: %s\n", e.Place, e.Message)
		if e.Source != "" {
			fmt.Fprintf(w, "      %s\n", e.Source)
		}
	}
}

// Print writes the failure. unwritten are the functions that are still stubs.
func (f *Failure) Print(w io.Writer, lang words.Lang, unwritten []Frame) {
	say := func(name string, arguments ...any) { fmt.Fprintln(w, course.Say(lang, name, arguments...)) }
	if f.Kind == Unwritten {
		at := f.Function
		for _, each := range unwritten {
			if each.Function == f.Function {
				at = fmt.Sprintf("%s (%s)", f.Function, each.Place)
			}
		}
		say("still-to-write", at)
		return
	}
	if f.Test != "" {
		fmt.Fprintf(w, "  %s\n", f.Test)
	}
	switch f.Kind {
	case Hang:
		say("hangs", f.Limit)
	case Deadlock, Race, Memory, Ended:
		say("kind-" + string(f.Kind))
	}
	for _, line := range f.Lines {
		fmt.Fprintf(w, "    %s\n", line)
	}
	if f.Asserted != nil {
		say("asserted", f.Asserted.String())
	}
	if len(f.Printed) > 0 {
		say("printed")
	}
	for _, line := range f.Printed {
		fmt.Fprintf(w, "      %s\n", line)
	}
	if f.Spins {
		say("endless-loop")
	}
	for _, stack := range f.Stacks {
		f.printStack(w, lang, stack)
	}
	if len(f.Stacks) == 0 && !f.Spins && (f.Kind == Hang || f.Kind == Deadlock || f.Kind == Race || f.Kind == Panic) {
		say("no-frames")
	}
}

func (f *Failure) printStack(w io.Writer, lang words.Lang, stack Stack) {
	switch {
	case f.Kind == Race:
		fmt.Fprintf(w, "    %s\n", course.Say(lang, "race-"+stack.What))
	case f.Kind != Panic:
		fmt.Fprintf(w, "    %s\n", course.Say(lang, "goroutines-wait", stack.Count, stack.What))
	}
	PrintFrames(w, stack.Frames)
}

// PrintFrames writes frames with their source lines.
func PrintFrames(w io.Writer, frames []Frame) {
	for _, frame := range frames {
		fmt.Fprintf(w, "      %s  %s\n", frame.Place, frame.Function)
		if frame.Source != "" {
			fmt.Fprintf(w, "          %s\n", frame.Source)
		}
	}
}
