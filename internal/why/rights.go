package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
			f.lack(nil, "no SubjectAccessReview was made, so run this command again")
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
