package why

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/words"
)

// notStuckID is the cause of a namespace that is not terminating: it excludes all others.
const notStuckID = "C29"

// missingRightsID is the cause for missing rights of this user. It is judged last, from what the
// others lack.
const missingRightsID = "C30"

func notStuck(e *Evidence) []Finding {
	var f Finding
	switch {
	case e.Namespace == nil && e.Refused != nil && e.Refused.Code == 404:
		f.Says = "the namespace does not exist"
		f.saw(1, e.Refused.Request, "404: %s", e.Refused.Message)
	case e.Namespace != nil && e.Namespace.Deleted.IsZero():
		f.Says = "its deletion was not requested"
		f.saw(1, e.Namespace.Request, "metadata.deletionTimestamp is not set")
	default:
		return nil
	}
	f.Culprit = Reference{Resource: "namespaces", Name: e.Name}
	return []Finding{f}
}

// missingRights returns a finding with every refusal that keeps a verdict from being certain.
func missingRights(e *Evidence, findings []Finding) []Finding {
	f := Finding{Culprit: Reference{Resource: "namespaces", Name: e.Name}}
	var rights []string
	refused := func(failed *Failure) {
		if failed == nil || failed.Code != 403 || slices.Contains(rights, failed.Right) {
			return
		}
		rights = append(rights, failed.Right)
		f.saw(1, failed.Request, "403: %s", failed.Message)
	}
	if e.Namespace == nil {
		refused(e.Refused)
	}
	refused(e.Discovery.Refused)
	seen := f.Proof
	for i := range e.Types {
		if e.refusesItself(&e.Types[i]) == nil {
			refused(e.Types[i].Failed)
		}
	}
	if more := len(f.Proof) - len(seen) - 1; more > 0 { // one of them shows what the others say
		f.Proof = f.Proof[:len(seen)+1]
		f.Proof[len(seen)].Says += fmt.Sprintf("; and %s like it", words.Count(more, "refusal"))
	}
	for _, finding := range findings {
		for _, failed := range finding.lacks {
			refused(failed)
		}
	}
	if len(rights) == 0 {
		return nil
	}
	f.Says = "this user may not " + strings.Join(rights, ", ")
	cause, _ := Lookup(missingRightsID)
	refusals := f.Proof
	f.Proof = nil
	for _, t := range ConditionTypes { // all that is known of content that may not be read
		if message := e.Namespace.Condition(t); message != "" {
			f.saw(1, e.Namespace.Request, "said by a condition, not verified: %s: %s", short(t), message)
		}
	}
	f.Proof = append(f.Proof, refusals...)
	return []Finding{completed(&Evidence{Cluster: e.Cluster}, cause, f)}
}
