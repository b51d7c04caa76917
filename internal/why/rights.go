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
// lack, for one object if Name is set. Resource may have a subresource, as in services/status.
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

// together returns refusals grouped by user and verb, in the order of the first of each group.
func together(refusals []Refusal) (groups [][]Refusal) {
	for _, r := range refusals {
		at := slices.IndexFunc(groups, func(g []Refusal) bool { return g[0].User == r.User && g[0].Verb == r.Verb })
		if at < 0 {
			groups = append(groups, nil)
			at = len(groups) - 1
		}
		groups[at] = append(groups[at], r)
	}
	return groups
}

func mayNotDelete(e *Evidence) []Finding {
	var findings []Finding
	for _, refusals := range together(Refusals(e.Latest(), e.Name)) {
		user, verb := refusals[0].User, refusals[0].Verb
		f := Finding{Culprit: Reference{Resource: "users", Name: user}}
		var names, empty []string // of types that have objects, and of others
		var agree []Proof
		for _, refusal := range refusals {
			name := Type{Group: refusal.Group, Resource: refusal.Resource}.Name()
			review := find(e.Reviews, func(r Review) bool { return r.Refusal == refusal })
			switch {
			case review == nil: // only some are reviewed
			case review.Failed != nil:
				f.lack(review.Failed, "the SubjectAccessReview failed")
			case review.Allowed:
				continue // restored since, or another server decides by itself
			default:
				says := fmt.Sprintf("SubjectAccessReview: %s may not %s %s in %s", user, verb, name, e.Name)
				agree = append(agree, Proof{1, says, review.Request})
			}
			if t := e.typeOf(refusal.Group, refusal.Resource); t != nil && t.Count > 0 {
				f.Blocks = append(f.Blocks, t.all()...)
				names = append(names, name)
			} else {
				empty = append(empty, name)
			}
		}
		if names = append(names, empty...); len(names) == 0 {
			continue
		}
		f.doubt(len(agree) > 0 && !strings.HasPrefix(user, "system:"),
			"the groups of user %s are not known: one may give it the right", user)
		f.doubt(len(agree) == 0 && len(f.Missing) == 0, "no SubjectAccessReview was made: only some rights are asked "+
			"about, and none that came with the second sample, so run this command again")
		f.Says = fmt.Sprintf("user %s may not %s %s", user, verb, types(names))
		f.saw(1, e.Namespace.Request, "ContentFailure: User %q cannot %s %s", user, verb, types(names))
		f.Proof = append(f.Proof, agree...)
		f.Remedies = lend(e, user)
		findings = append(findings, f)
	}
	return findings
}

// aggregated returns the Service of the other server that serves a group, or nil.
func (e *Evidence) aggregated(group string) *Service {
	a := find(e.APIServices.Items, func(a APIService) bool {
		return a.Service != nil && strings.HasPrefix(a.GroupVersion, group+"/")
	})
	if a == nil {
		return nil
	}
	return a.Service
}

// lend returns the commands that give a user for the time being what the controller needs for every
// type that it was refused: one that may list and not delete would be refused next.
func lend(e *Evidence, user string) []Remedy {
	var names []string
	for _, refusal := range Refusals(e.Latest(), e.Name) {
		if name := (Type{Group: refusal.Group, Resource: refusal.Resource}).Name(); refusal.User == user && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if slices.ContainsFunc(names, isQuoted) {
		return nil
	}
	form, subject := literal("--user=%s"), user
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		form, subject = "--serviceaccount=%s", account
	}
	last := user[strings.LastIndexAny(user, ":/\\")+1:]
	return granted(strings.Join([]string{"orrery-why", e.Name, last, names[0]}, "-"), "list,delete,deletecollection",
		names, form, subject)
}

// granted returns the commands that create a ClusterRole and bind it, and delete both later. The
// resources may come from the text of any server.
func granted(name, verbs string, resources []string, form literal, subject string) []Remedy {
	return []Remedy{
		{Command: kubectl("", "create clusterrole %s --verb=%s --resource=%s", name, verbs,
			strings.Join(resources, ","))},
		{Command: kubectl("", "create clusterrolebinding %s --clusterrole=%s "+form, name, name, subject)},
		{Command: kubectl("", "delete clusterrolebinding,clusterrole %s", name), When: whenGone},
	}
}
