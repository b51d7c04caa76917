package check

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
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

// Stack is the learner's part of a goroutine's stack.
type Stack struct {
	// What the goroutine does or waits for: "sync.Cond.Wait", or in a race "read" or "write".
	What   string
	Frames []Frame
	// Count is the number of goroutines with this stack.
	Count int
}

// Frame is a function that was called, in one of the learner's files.
type Frame struct {
	Place
	Function string
	Source   string
}

// stackLimit is the greatest number of stacks that are shown.
const stackLimit = 6

var (
	goroutineForm = regexp.MustCompile(`^goroutine [0-9]+.* \[([^\],]+)`)
	frameForm     = regexp.MustCompile(`^\s+(\S+\.go):([0-9]+)`)
	callForm      = regexp.MustCompile(`^\s*(?:created by )?([^\s(]+(?:\([^)]*\)[^\s(]+)?)\(`)
	accessForm    = regexp.MustCompile(`^(?:Previous )?(?i:(read|write)) at 0x\S+ by `)
)

// typeArguments are "[...]", and "[go.shape.string]" in race reports.
var typeArguments = regexp.MustCompile(`\[[^\]]*\]`)

const (
	raceMark = "WARNING: DATA RACE"
	raceLine = "==================" // before and after a report
)

// dumpStacks returns the goroutines of a dump that have frames in the learner's files.
func dumpStacks(dump string, paths Paths) []Stack {
	var stacks []Stack
	for part := range strings.SplitSeq(dump, "\n\n") {
		header, rest, _ := strings.Cut(strings.TrimLeft(part, "\n"), "\n")
		what := goroutineForm.FindStringSubmatch(header)
		if what == nil {
			continue
		}
		if frames := framesIn(rest, paths); len(frames) > 0 {
			stacks = addStack(stacks, Stack{What: strings.TrimSuffix(what[1], " (durable)"), Frames: frames, Count: 1})
		}
	}
	return stacks
}

// LoggedPanic returns the learner's frames of the first panic in a log of the controller, which
// catches panics and logs their stacks as quoted texts.
func LoggedPanic(log string, paths Paths) []Frame {
	for {
		_, rest, found := strings.Cut(log, `stack="`)
		if !found {
			return nil
		}
		quoted, err := strconv.QuotedPrefix(`"` + rest)
		if stack, err2 := strconv.Unquote(quoted); err == nil && err2 == nil {
			if frames := framesIn(stack, paths); len(frames) > 0 {
				return frames
			}
		}
		log = rest
	}
}

// firstStack returns the stack of the goroutine that panicked.
func firstStack(dump string, paths Paths) []Stack {
	_, dump, _ = strings.Cut(dump, "goroutine ")
	first, _, _ := strings.Cut(dump, "\n\n")
	if frames := framesIn(first, paths); len(frames) > 0 {
		return []Stack{{What: "panic", Frames: frames, Count: 1}}
	}
	return nil
}

// raceStacks returns the two accesses of the first race: where they leave the learner's files.
func raceStacks(output string, paths Paths) []Stack {
	_, block, _ := strings.Cut(output, raceMark)
	block, _, _ = strings.Cut(block, raceLine)
	var stacks []Stack
	for part := range strings.SplitSeq(block, "\n\n") {
		header, rest, _ := strings.Cut(strings.TrimLeft(part, "\n"), "\n")
		access := accessForm.FindStringSubmatch(header)
		if access == nil {
			continue
		}
		if frames := framesIn(rest, paths); len(frames) > 0 {
			stacks = append(stacks, Stack{What: strings.ToLower(access[1]), Frames: frames[:1], Count: 1})
		}
	}
	return stacks
}

// addStack adds a stack, or counts it if the same is there.
func addStack(stacks []Stack, s Stack) []Stack {
	for i, known := range stacks {
		if known.What == s.What && len(known.Frames) == len(s.Frames) && known.Frames[0] == s.Frames[0] {
			stacks[i].Count++
			return stacks
		}
	}
	if len(stacks) == stackLimit {
		return stacks
	}
	return append(stacks, s)
}

// framesIn returns the frames of a stack that are in the learner's files, the innermost first.
func framesIn(stack string, paths Paths) []Frame {
	var frames []Frame
	call := ""
	for line := range strings.Lines(stack) {
		line = strings.TrimRight(line, "\n")
		at := frameForm.FindStringSubmatch(line)
		if at == nil {
			call = ""
			if found := callForm.FindStringSubmatch(line); found != nil && !strings.HasPrefix(line, "created by ") {
				call = found[1]
			}
			continue
		}
		name, learners := paths.Name(at[1])
		if learners && call != "" {
			line := number(at[2])
			frames = append(frames, Frame{Place{paths.Show(name), line}, functionName(call),
				SourceLine(paths.File(name), line)})
		}
	}
	return frames
}

// functionName returns Type.Method for the name in a stack: orrery/queue.(*Queue[...]).Get.
func functionName(call string) string {
	call = typeArguments.ReplaceAllString(call, "")
	call = call[strings.LastIndex(call, "/")+1:]
	_, name, _ := strings.Cut(call, ".")
	return strings.NewReplacer("(*", "", ")", "").Replace(name)
}
