package check

import (
	"slices"
	"strings"

	"orrery/internal/lab/course"
	"orrery/internal/words"
)

// Hint is what one call of "lab hint" prints.
type Hint struct {
	words.Text
	// Test is the failed test that the hint is about; "" for a rung.
	Test string
	// Rung counts from 1; 0 for a hint about a failure. With a Trouble it is the one that comes
	// next.
	Rung int
	// Trouble is what has to be said in place of a hint, which has no text then.
	Trouble Kind
	// General: no hint is about the failure, and this one is not either.
	General bool
	// Repeated reports that all rungs have been shown before.
	Repeated bool
	// Shown records in the progress that the hint was shown.
	Shown func(*course.LabProgress)
}

// hintFor returns the first state-aware hint for a failure, or nil.
func hintFor(lab *course.Lab, failed *course.FailedTest) *course.StateHint {
	if failed == nil {
		return nil
	}
	for i, hint := range lab.Hints.State {
		if hint.Test == failed.Test && strings.Contains(failed.Output, hint.Output) {
			return &lab.Hints.State[i]
		}
	}
	return nil
}

// troubles are the failures for which a hint is worth nothing: "lab test" prints all that is known
// about them.
var troubles = []Kind{Unwritten, Build, Vet, Race, Hang, Deadlock, Memory, Ended}

// Next returns the next hint: first one for the failure that the learner has, then the rungs of the
// lab, one more at each call. The hint about a failure is shown once, until the failure changes. If
// the lab has no hint about a failure that is one of the troubles, Next once names only the
// failure, and uses no rung for it.
func Next(lab *course.Lab, progress course.LabProgress) Hint {
	match := hintFor(lab, progress.Failed)
	if match != nil && progress.HintShown != match.ID {
		return Hint{Text: match.Text, Test: match.Test, Shown: func(p *course.LabProgress) { p.HintShown = match.ID }}
	}
	last := len(lab.Hints.Rungs)
	rung := min(progress.Hints+1, last)
	kind := Kind(progress.Failed.Kind())
	if match == nil && slices.Contains(troubles, kind) && progress.HintShown != string(kind) {
		return Hint{Rung: rung, Trouble: kind, Shown: func(p *course.LabProgress) { p.HintShown = string(kind) }}
	}
	return Hint{
		Text: lab.Hints.Rungs[rung-1], Rung: rung, Repeated: progress.Hints >= last,
		General: match == nil && kind != "" && !slices.Contains(troubles, kind),
		Shown:   func(p *course.LabProgress) { p.Hints = rung },
	}
}
