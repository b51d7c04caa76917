package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// forbidden is the refusal of RBAC in a condition.
// It begins a server's text: the message of a webhook or a policy may quote another's refusal.
var forbidden = lazyPattern(`^[a-z0-9.-]+ (?:"[^"]*" )?is forbidden: User ("(?:[^"\\]|\\.)+") cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)" in the namespace "([^"]+)"`)

// Refusal is a right that a condition says the controller lacks, or that a finalizer's owner may
// lack, for one object if Name is set.
type Refusal struct {
	User     string `json:"user"`
	Verb     string `json:"verb"`
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	Name     string `json:"name,omitempty"`
}

// Refusals returns the rights that the condition ContentFailure names, each once.
func Refusals(n *Namespace, namespace string) []Refusal {
	var refusals []Refusal
	for _, one := range texts(n.Condition(api.NamespaceDeletionContentFailure)) {
		match := forbidden().FindStringSubmatch(one)
		if match == nil {
			continue
		}
		user, err := strconv.Unquote(match[1])
		if err != nil {
			continue // Kubernetes writes it quoted
		}
		refusal := Refusal{User: user, Verb: match[2], Resource: match[3], Group: match[4]}
		if match[5] == namespace && !slices.Contains(refusals, refusal) {
			refusals = append(refusals, refusal)
		}
	}
	return refusals
}

func mayNotDelete(e *Evidence) []Finding {
	var findings []Finding
	for _, refusal := range Refusals(e.Latest(), e.Name) {
		user, name := refusal.User, Type{Group: refusal.Group, Resource: refusal.Resource}.Name()
		f := Finding{Culprit: Reference{Resource: "users", Name: user}}
		mayNot := fmt.Sprintf("user %s may not %s ", user, refusal.Verb)
		if slices.ContainsFunc(findings, func(of Finding) bool { return strings.HasPrefix(of.Says, mayNot) }) {
			continue // the first type stands for all
		}
		f.Says = mayNot + name
		f.saw(1, e.Namespace.Request, "ContentFailure: User %q cannot %s %s", user, refusal.Verb, name)
		review := find(e.Reviews, func(r Review) bool { return r.Refusal == refusal })
		switch {
		case review == nil:
			f.lack(nil, "no SubjectAccessReview was made: only some rights are asked about, and none that came with "+
				"the second sample, so run this command again")
		case review.Failed != nil:
			f.lack(review.Failed, "the SubjectAccessReview failed")
		case review.Allowed:
			continue // restored since, or another server decides by itself
		default:
			f.saw(1, review.Request, "SubjectAccessReview: %s may not %s %s in %s", user, refusal.Verb, name, e.Name)
			f.doubt(!strings.HasPrefix(user, "system:"),
				"the groups of user %s are not known: one may give it the right", user)
		}
		if t := e.typeOf(refusal.Group, refusal.Resource); t != nil && t.Count > 0 {
			f.Blocks = t.all()
		}
		findings = append(findings, f)
	}
	return findings
}

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
