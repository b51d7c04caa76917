package rbac

import (
	"slices"
	"strings"
)

// Right is a rule of a role, and why it has to be.
type Right struct {
	// Namespace is where it holds; "" is everywhere.
	Namespace string
	// Purpose is what the rights of one role have in common, as a part of the role's name; "" for those that hold everywhere.
	Purpose string
	Rule    Rule
	Reason  string
}

// Rule is what a role allows: these verbs for these resources, for the objects of these names or for all.
type Rule struct {
	APIGroups     []string `json:"apiGroups" yaml:"apiGroups,flow"`
	Resources     []string `json:"resources" yaml:"resources,flow"`
	ResourceNames []string `json:"resourceNames,omitempty" yaml:"resourceNames,flow,omitempty"`
	Verbs         []string `json:"verbs" yaml:"verbs,flow"`
}

const eventsNamespace = "default"

// Rights are those that a run needs: its controllers', and the process's own.
func Rights(config Config) []Right {
	rights := join(config.Controllers)
	if config.DryRun {
		return rights // it takes part in no election, and writes nothing
	}
	if config.Events && config.EventsEverywhere {
		rights = append(rights, Right{
			Rule:   Rule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
			Reason: "Events stand in the namespace of the object that they are about, a repeated one is counted up.",
		})
	}
	if config.LeaderElection {
		rights = append(rights, electing(config)...)
	}
	if config.Events && !config.EventsEverywhere {
		rights = append(rights, Right{
			Namespace: eventsNamespace, Purpose: "events",
			Rule:   Rule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
			Reason: "How deletions ended is told by Events, a repeated one by counting it up. Nothing can be created in a namespace that is being deleted.",
		})
	}
	return rights
}

// join makes one right of those that several controllers have to the same resources, and drops verbs that are allowed for
// everything.
func join(rights []Right) (joined []Right) {
	var everything []string // verbs
	for _, right := range rights {
		if right.Rule.isAboutEverything() {
			everything = append(everything, right.Rule.Verbs...)
		}
	}
	for _, right := range rights {
		if !right.Rule.isAboutEverything() {
			right.Rule.Verbs = slices.DeleteFunc(slices.Clone(right.Rule.Verbs), func(verb string) bool { return slices.Contains(everything, verb) })
		}
		at := slices.IndexFunc(joined, func(known Right) bool { return known.Namespace == right.Namespace && known.Rule.isLike(right.Rule) })
		switch {
		case len(right.Rule.Verbs) == 0:
		case at < 0:
			joined = append(joined, right)
		default:
			known := &joined[at]
			known.Rule.Verbs = slices.Clone(known.Rule.Verbs)
			for _, verb := range right.Rule.Verbs {
				if !slices.Contains(known.Rule.Verbs, verb) {
					known.Rule.Verbs = append(known.Rule.Verbs, verb)
				}
			}
			if !strings.Contains(known.Reason, right.Reason) {
				known.Reason += " " + right.Reason
			}
		}
	}
	return joined
}

func (r Rule) isAboutEverything() bool {
	return slices.Equal(r.APIGroups, []string{"*"}) && slices.Equal(r.Resources, []string{"*"})
}

// isLike reports whether the rules differ in nothing but verbs.
func (r Rule) isLike(other Rule) bool {
	return slices.Equal(r.APIGroups, other.APIGroups) && slices.Equal(r.Resources, other.Resources) && slices.Equal(r.ResourceNames, other.ResourceNames)
}

// NamespaceController returns the rights to take namespaces down, or, in a dry run, to see what that would take.
func NamespaceController(dryRun bool) []Right {
	rights := []Right{{
		Rule:   Rule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "watch"}},
		Reason: "Namespaces are watched, and read once more before anything is deleted. To list them is included below.",
	}}
	if dryRun {
		return append(rights, Right{
			Rule:   Rule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list"}},
			Reason: "What is in a namespace, of whatever type.",
		})
	}
	return append(rights, Right{
		Rule:   Rule{APIGroups: []string{""}, Resources: []string{"namespaces/status"}, Verbs: []string{"update"}},
		Reason: "The conditions that say how a deletion goes.",
	}, Right{
		Rule:   Rule{APIGroups: []string{""}, Resources: []string{"namespaces/finalize"}, Verbs: []string{"update"}},
		Reason: "The finalizer that is taken off an empty namespace.",
	}, Right{
		Rule:   Rule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list", "delete", "deletecollection"}},
		Reason: "Everything in a namespace, of whatever type, custom ones included. Types that cannot be deleted as a collection are deleted one by one.",
	})
}

// electing are the rights to a Lease.
func electing(config Config) []Right {
	lease := func(verbs ...string) Rule {
		return Rule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: verbs}
	}
	named := lease("get", "update", "watch")
	named.ResourceNames = []string{config.LeaseName}
	rights := []Right{{
		Namespace: config.LeaseNamespace, Purpose: "leader-election", Rule: named,
		Reason: "The Lease that one of the replicas holds. The others watch it, and take over as soon as it is released.",
	}, {
		Namespace: config.LeaseNamespace, Purpose: "leader-election", Rule: lease("create"),
		Reason: "The first one creates it. Kubernetes cannot limit this to a name.",
	}}
	if config.Events {
		rights = append(rights, Right{
			Namespace: config.LeaseNamespace, Purpose: "leader-election",
			Rule:   Rule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}},
			Reason: "An Event tells who became leader.",
		})
	}
	return rights
}
