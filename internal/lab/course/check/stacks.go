package check

import (
	"regexp"
	"strconv"
	"strings"
)

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
