package check

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"orrery/internal/lab/course"
)

// Kind is how a step failed.
type Kind string

const (
	Unwritten Kind = "unwritten" // a function is still a stub
	Assertion Kind = "assertion"
	Panic     Kind = "panic"
	Hang      Kind = "hang"
	Deadlock  Kind = "deadlock" // also goroutines that are left at the end of a test
	Race      Kind = "race"
	Memory    Kind = "memory"
	Ended     Kind = "ended" // the process ended without saying why
	Build     Kind = "build" // the page does not compile, so no step ran
	Vet       Kind = "vet"   // all steps passed, and go vet found a mistake
)

// Failure is what a step's output says.
type Failure struct {
	Kind Kind
	Step string
	// Test is the first test that failed.
	Test string
	// Lines are what the test said, without stacks.
	Lines []string
	// Printed are the last lines that the learner's page printed in this test.
	Printed []string
	// Function is what is still to write.
	Function string
	// Stacks have frames in the learner's files only.
	Stacks []Stack
	// Limit is the seconds that the step was allowed to take.
	Limit float64
	// Spins reports that a goroutine ran when the time was over. Its stack may be unknown.
	Spins bool
	// Asserted is the place of the assertion in the contract suite.
	Asserted *Place
}

// Paths knows the learner's files.
type Paths interface {
	// Name returns the path in the repository for a path in Go's output; "" if it is outside.
	Name(printed string) (name string, learners bool)
	// Show returns how a path of the repository is shown.
	Show(name string) string
	// File returns the file that takes the place of a path of the repository.
	File(name string) string
	// Map replaces the paths in a text by those that are shown.
	Map(text string) string
}

// Explain returns what the output of a failed step says.
func Explain(result course.Result, paths Paths) *Failure {
	f := &Failure{Kind: Assertion, Step: result.Step, Limit: result.Limit.Seconds()}
	spoken, line, dump := fatal(result.Output)
	tests := parseTests(spoken)
	f.Test = tests.running
	defer func() {
		if f.Kind != Ended { // its lines are all that was printed
			f.Printed = last(tests.printed[f.Test])
		}
	}()
	switch {
	case result.Hungry:
		f.Kind = Memory
	case line == "" && strings.Contains(result.Output, raceMark):
		f.Kind, f.Test = Race, cmp.Or(tests.raced, tests.failed)
		f.Stacks = raceStacks(result.Output, paths)
	case line == "" && tests.failed != "":
		f.Test = tests.failed
		f.explainTest(tests.lines[tests.failed], paths)
	case line == "":
		f.Kind, f.Lines = Ended, tail(result.Output)
		if result.Killed {
			f.Kind = Hang
		}
	case strings.HasPrefix(line, "panic: test timed out"):
		f.Kind, f.Stacks = Hang, dumpStacks(dump, paths)
		f.Spins = strings.Contains(dump, "stack unavailable") ||
			slices.ContainsFunc(f.Stacks, func(s Stack) bool { return s.What == "runnable" })
	case strings.Contains(line, "deadlock"):
		f.Kind, f.Stacks = Deadlock, dumpStacks(dump, paths)
		f.Lines, f.Asserted = said(tests.lines[tests.running], paths)
	default:
		if name, ok := course.UnwrittenIn(line); ok {
			f.Kind, f.Function = Unwritten, strings.TrimSuffix(name, " [recovered")
			return f
		}
		f.Kind = Panic
		f.Lines = []string{strings.TrimSuffix(strings.TrimSuffix(line, " [recovered, repanicked]"), " [recovered]")}
		f.Stacks = firstStack(dump, paths)
	}
	return f
}

// explainTest explains a test that has failed by itself. Some suites catch a panic of the gear and
// report it with its stack.
func (f *Failure) explainTest(lines []string, paths Paths) {
	if name, ok := course.UnwrittenIn(strings.Join(lines, "\n")); ok {
		f.Kind, f.Function = Unwritten, name
		return
	}
	if i := slices.IndexFunc(lines, caughtForm.MatchString); i >= 0 {
		if frames := framesIn(strings.Join(lines[i+1:], "\n"), paths); len(frames) > 0 {
			f.Kind, f.Stacks = Panic, []Stack{{What: "panic", Frames: frames, Count: 1}}
		}
		lines = lines[:i]
	}
	f.Lines, f.Asserted = said(lines, paths)
}

// caughtForm is the beginning of a stack in a test's message.
var caughtForm = regexp.MustCompile(`^\s*(?:Error:\s+|Messages:\s+)?goroutine [0-9]+ \[`)

// fatal splits an output at the line with which the runtime or the testing package ends the
// process, if there is one. A dump follows it.
func fatal(output string) (before, line, dump string) {
	at := fatalForm.FindStringIndex(output)
	if at == nil {
		return output, "", ""
	}
	line, dump, _ = strings.Cut(output[at[0]:], "\n")
	return output[:at[0]], line, dump
}

var fatalForm = regexp.MustCompile(`(?m)^(panic|fatal error): `)

// tests is what -test.v printed.
type tests struct {
	running string              // the last test that began and did not end
	failed  string              // the first failed test that has no failed part
	raced   string              // the test during which the race detector spoke first
	lines   map[string][]string // what each test said
	printed map[string][]string // what was printed meanwhile, by the page
}

var (
	beginForm = regexp.MustCompile(`^=== (RUN|NAME|CONT|PAUSE)\s+(\S*)`)
	endForm   = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)
)

func parseTests(output string) tests {
	t := tests{lines: map[string][]string{}, printed: map[string][]string{}}
	failed := map[string]bool{}
	var order []string // of beginning
	current := ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if begin := beginForm.FindStringSubmatch(line); begin != nil {
			if current = begin[2]; begin[1] == "RUN" {
				order = append(order, current)
			}
			continue
		}
		if end := endForm.FindStringSubmatch(line); end != nil {
			failed[end[2]] = end[1] == "FAIL"
			continue
		}
		if line == "FAIL" || line == "PASS" || line == raceLine {
			continue // the end of all tests, or the line around a report of the race detector
		}
		if strings.HasPrefix(line, raceMark) && t.raced == "" {
			t.raced = current
		}
		if strings.HasPrefix(line, "    ") || t.raced != "" { // a message of the test is indented
			t.lines[current] = append(t.lines[current], line)
		} else {
			t.printed[current] = append(t.printed[current], line)
		}
	}
	t.running = current
	for _, test := range order {
		if failed[test] && (t.failed == "" || strings.HasPrefix(test, t.failed+"/")) {
			t.failed = test
		}
	}
	return t
}

// printedLimit is the greatest number of lines of a page that are shown.
const printedLimit = 10

// last returns the last lines that a page printed, shortened.
func last(lines []string) []string {
	lines = lines[max(0, len(lines)-printedLimit):]
	for i := range lines {
		lines[i] = shorten(lines[i])
	}
	return lines
}

// tail returns the last lines of an output.
func tail(output string) []string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "=== ") })
	return lines[max(0, len(lines)-5):]
}
