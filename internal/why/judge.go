package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// backOffCap is the longest pause between two passes of the controller. A condition that no longer
// holds is corrected by then.
const backOffCap = 60 * time.Second

// firstPasses covers the controller's grace period and first passes. Younger evidence proves
// nothing.
const firstPasses = 2 * gracePeriod

// minInterval is what the samples must be apart for a proof. It allows for the full seconds of the
// server's clock.
const minInterval = 4 * time.Second

// Judge says what the evidence proves. It is a pure function: it reads neither a clock nor a
// server, and the same evidence gives the same report.
func Judge(e Evidence) Report {
	r := Report{APIVersion: ReportVersion, Namespace: e.Name, Checked: checked(&e), Findings: []Finding{}}
	if e.Namespace != nil {
		r.UID, r.ResourceVersion = e.Namespace.UID, e.Namespace.ResourceVersion
	}
	inDeletion := e.Namespace != nil && !e.Namespace.Deleted.IsZero() && e.Latest() != nil
	for _, cause := range Catalogue() { // but for C29, they judge only a namespace that is terminating
		if !inDeletion && cause.ID != notStuckID || inDeletion && e.vouched() && !cause.Itself {
			continue
		}
		for _, finding := range cause.judge(&e) {
			r.Findings = append(r.Findings, completed(&e, cause, finding))
		}
	}
	r.Findings = withoutOutdated(r.Findings)
	if inDeletion || e.Namespace == nil {
		r.Findings = append(r.Findings, missingRights(&e, r.Findings)...)
	}
	r.Verdict, r.Sentence = verdict(&e, r.Findings)
	r.Sentence = words.OneLine(r.Sentence)
	r.ExitCode = map[Verdict]int{Stuck: ExitStuck, Unknown: ExitUnknown}[r.Verdict]
	if r.Verdict == Absent && e.Namespace == nil {
		r.ExitCode = ExitError
	}
	return r
}

// lastResort marks advice that loses data, or leaves something behind. A finding has it only if it
// offers a command for that.
const lastResort = "⚠ "

// leftTypes is of how many types a report names an object that is left, whatever the cause.
const leftTypes = 3

func checked(e *Evidence) Checked {
	objects, unread := e.left()
	c := Checked{Objects: objects, Unread: append([]string{}, unread...), Reasons: e.unread(), Requests: e.Requests,
		Samples: 1, Took: e.Took, Incomplete: e.Incomplete}
	maps.DeleteFunc(c.Reasons, func(_, reason string) bool { return reason == "" })
	for _, t := range e.Types {
		if t.Failed == nil && t.Request != "" {
			c.Types++
		}
		if len(t.Objects) > 0 && len(c.Left) < leftTypes {
			c.Left = append(c.Left, Blocked{Resource: t.Name(), Count: t.Count, Examples: []string{t.Objects[0].Name}})
		}
	}
	if e.Second != nil {
		c.Samples, c.Waited = 2, e.Second.At.Sub(e.At)
	}
	return c
}

// completed adds the cause's title and advice to a finding, and decides its certainty: an empty one
// is Proven unless something is missing.
func completed(e *Evidence, cause Cause, f Finding) Finding {
	f.ID, f.Title = cause.ID, cause.Title
	if f.DoNot = []string{}; cause.DoNot != "" {
		f.DoNot = []string{cause.DoNot}
	}
	if e.Namespace != nil && !cause.Waits {
		apart := e.now().Sub(e.At)
		f.doubt(f.Certainty == "" && e.age() < firstPasses,
			"the namespace was deleted %s ago: the first passes may not be over", words.Duration(e.age()))
		f.doubt(e.Second == nil && !slices.Contains(f.Missing, onlyOnce), onlyOnce)
		f.doubt(e.Second != nil && apart < minInterval, "the samples are only %s apart", words.Duration(apart))
	}
	f.doubt(e.Incomplete != "", "the examination ended early")
	if f.Certainty == "" {
		f.Certainty = Proven
	}
	if f.Certainty == Proven && (len(f.Missing) > 0 || f.isAbsence()) {
		f.Certainty = Possible
	}
	e.complete(&f) // before the next lines: it offers removals only while nothing is missing
	loses := slices.ContainsFunc(f.Remedies, func(r Remedy) bool { return r.Loses != "" })
	for _, do := range cause.Do {
		if loses || !strings.HasPrefix(do, lastResort) {
			f.Do = append(f.Do, e.inCluster(literal(do)))
		}
	}
	if f.isAbsence() && len(f.Missing) == 0 {
		f.lack(nil, "whether %s runs outside this cluster is not known", f.Owner.Name)
	}
	return f
}

// withoutOutdated drops findings that rest on what a proven one has left behind.
func withoutOutdated(findings []Finding) []Finding {
	outdated := map[string]bool{}
	for _, f := range findings {
		if cause, ok := Lookup(f.ID); ok && f.Certainty == Proven {
			for _, id := range cause.Outdates {
				outdated[id] = true
			}
		}
	}
	return slices.DeleteFunc(findings, func(f Finding) bool { return outdated[f.ID] })
}

// verdict sums up the findings in one word and one sentence.
func verdict(e *Evidence, findings []Finding) (Verdict, string) {
	name, refused := e.Name, cmp.Or(e.Refused, &Failure{Message: "it was not asked for"})
	switch {
	case e.Namespace == nil && refused.Code == 404:
		others := "no namespace is Terminating"
		if len(e.Terminating) > 0 {
			others = "Terminating now: " + strings.Join(e.Terminating, ", ")
		} else if e.Unlisted != nil {
			others = "this user may not list those that are Terminating"
		}
		return Absent, fmt.Sprintf("namespace %q does not exist; %s", name, others)
	case e.Namespace == nil:
		return Unknown, fmt.Sprintf("namespace %q cannot be read: %s", name, refused.Message)
	case e.Namespace.Deleted.IsZero():
		return Active, fmt.Sprintf("namespace %q is Active: %s", name, findings[0].Says)
	case e.Second != nil && e.Second.Namespace == nil:
		return Absent, fmt.Sprintf("namespace %q was removed while it was examined", name)
	}
	inDeletion := fmt.Sprintf("Namespace %s has been terminating for %s", name, words.Duration(e.age()))
	hangs := inDeletion
	waits := says(findings, Proven, true)
	if len(waits) > 0 {
		inDeletion += " and is waiting: " + andMore(waits)
	}
	if stops := says(findings, Proven, false); len(stops) > 0 {
		return Stuck, hangs + ": " + andMore(stops) + "." + e.besides(findings)
	}
	if stops := says(findings, Possible, false); len(stops) > 0 {
		return Unknown, inDeletion + ". Possibly " + andMore(stops) + "; that is not proven." + e.besides(findings)
	}
	besides, open, but := e.besides(findings), "", ""
	if e.age() >= backOffCap {
		open = e.open()
	}
	if open != "" {
		but = "; but " + open
	}
	graceful := slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == "C10" && f.Certainty == Proven })
	verdict := Unknown
	switch progress := e.progress(); {
	case len(waits) > 0:
		if open == "" && (besides == "" || graceful) {
			verdict = Progressing
		}
		return verdict, inDeletion + but + "." + besides
	case progress != "":
		if e.age() < backOffCap || open+besides == "" {
			verdict = Progressing
		}
		return verdict, fmt.Sprintf("%s and makes progress: %s%s.%s", inDeletion, progress, but, besides)
	case e.age() < backOffCap:
		return Progressing, inDeletion + ": too early to tell." + besides
	}
	if maybe := says(findings, Possible, true); len(maybe) > 0 {
		return Unknown, inDeletion + " and is possibly waiting: " + andMore(maybe) + but + "." + besides
	}
	if open == "" && besides == "" && e.isEmpty() {
		open = fmt.Sprintf("nothing is left in it: a controller that works would have removed it within %s. Its log "+
			"says if its last request, to namespaces/finalize, is refused", words.Duration(backOffCap))
	}
	if open != "" {
		open = ": " + open
	}
	return Unknown, hangs + "; no known cause is proven" + open + "." + besides
}

// isEmpty reports whether nothing is left that the namespace waits for.
func (e *Evidence) isEmpty() bool {
	objects, unread := e.left()
	return !e.vouched() && objects == 0 && len(unread) == 0 &&
		e.condition(api.NamespaceDeletionDiscoveryFailure) == ""
}

// says returns the sentences of the findings that are so certain, of causes that wait or of others.
func says(findings []Finding, certainty Certainty, wait bool) (all []string) {
	for _, f := range findings {
		if cause, _ := Lookup(f.ID); f.Certainty == certainty && cause.Waits == wait && f.ID != missingRightsID {
			all = append(all, f.Says)
		}
	}
	return all
}

// besides says what the namespace waits for that no finding names: an owner at work is no cause.
func (e *Evidence) besides(findings []Finding) string {
	if waits := e.waitingFor(findings); waits != "" && !e.vouched() {
		return " Besides, " + waits + "."
	}
	return ""
}

// andMore returns the first finding's sentence and the number of the others.
func andMore(says []string) string {
	if len(says) == 1 {
		return says[0]
	}
	return fmt.Sprintf("%s; and %s", says[0], words.Count(len(says)-1, "more cause"))
}

// ConditionTypes are the five conditions of the namespace controller.
var ConditionTypes = []api.NamespaceConditionType{
	api.NamespaceDeletionDiscoveryFailure, api.NamespaceDeletionGVParsingFailure, api.NamespaceDeletionContentFailure,
	api.NamespaceContentRemaining, api.NamespaceFinalizersRemaining,
}

// short returns a condition's type without its common prefix: "DiscoveryFailure".
func short(t api.NamespaceConditionType) string {
	return strings.TrimPrefix(strings.TrimPrefix(string(t), "NamespaceDeletion"), "Namespace")
}

// open says what shows that a part of the namespace may hang, beside the findings; "" for nothing.
func (e *Evidence) open() string {
	content := e.condition(api.NamespaceDeletionContentFailure)
	_, unread := e.left()
	switch {
	case e.vouched():
	case e.Incomplete != "":
		return "the examination ended early, so not all causes were looked for"
	case e.overdue() != "":
		return e.overdue()
	case len(unread) > 0 && !e.onlyPodsYet():
		return types(unread) + " could not be read"
	case content != "" && !e.onlyPodsYet():
		return fmt.Sprintf("ContentFailure says %.400q; if that is repaired by now, the next pass of the controller, "+
			"within %s, may succeed", content, words.Duration(backOffCap))
	}
	return ""
}

// progress returns the proof that the deletion makes progress, or "".
func (e *Evidence) progress() string {
	if e.Second == nil {
		return ""
	}
	if released := e.released(); released != "" {
		return released + " was removed between the samples"
	}
	for _, t := range e.Second.Types {
		if first := e.typeOf(t.Group, t.Resource); first != nil && first.shrankTo(t) {
			return fmt.Sprintf("%s had %s, and %d after %s", t.Name(), words.Count(first.Count, "object"), t.Count,
				words.Duration(e.Second.At.Sub(e.At)))
		}
	}
	return ""
}

// written reports whether a controller has written the namespace between the samples. Other
// programs may write labels and annotations.
func (e *Evidence) written() bool {
	same := func(a, b api.NamespaceCondition) bool {
		return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
	}
	return e.Second.Namespace.ResourceVersion != e.Namespace.ResourceVersion && (e.released() != "" ||
		!slices.EqualFunc(e.Second.Namespace.Conditions, e.Namespace.Conditions, same))
}

// released returns a token or finalizer of the namespace that the second sample lacks, "" for none.
func (e *Evidence) released() string {
	again := slices.Concat(e.Second.Namespace.SpecFinalizers, e.Second.Namespace.Finalizers)
	for _, finalizer := range slices.Concat(e.Namespace.SpecFinalizers, e.Namespace.Finalizers) {
		if !slices.Contains(again, finalizer) {
			return finalizer
		}
	}
	return ""
}
