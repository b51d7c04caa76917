// Package rbac holds the least rights with which a program of controllers works. [Rights] lists the
// rights of a run, each with its reason. [Manifests] turns them into roles and bindings (RBAC, API
// group rbac.authorization.k8s.io), which the subcommands rbac print. [Missing] asks a server which
// of the rights its user lacks.
//
// A right that another one includes is omitted: the right to list everything includes namespaces.
// So are the default rights of authenticated users to read /version, /readyz, /api and /apis and to
// review their own rights. A right is limited to one object by name where Kubernetes can do that.
// It cannot for create, because the authorizer sees no name.
package rbac

import (
	"slices"
	"strings"

	"orrery/restclient/api"
)

// Right is a rule of a role and its reason.
type Right struct {
	// Namespace is the namespace of the right; "" means all.
	Namespace string
	// Purpose is common to the rights of one role, and part of the role's name; "" for cluster-wide
	// rights.
	Purpose string
	Rule    Rule
	Reason  string
	// For are the controllers and other parts of the process that need it, for messages.
	For []string
}

// RightTo returns a right to all objects of a resource, or to a subresource of them unless that is
// "".
func RightTo(resource api.GroupVersionResource, subresource, reason string, verbs ...string) Right {
	name := resource.Resource
	if subresource != "" {
		name += "/" + subresource
	}
	return Right{Rule: rule(resource.Group, name, verbs...), Reason: reason}
}

// Rule is a rule of a role: verbs for resources, for the named objects or all.
type Rule struct {
	APIGroups     []string `json:"apiGroups" yaml:"apiGroups,flow"`
	Resources     []string `json:"resources" yaml:"resources,flow"`
	ResourceNames []string `json:"resourceNames,omitempty" yaml:"resourceNames,flow,omitempty"`
	Verbs         []string `json:"verbs" yaml:"verbs,flow"`
}

// rule returns a rule about one resource.
func rule(group, resource string, verbs ...string) Rule {
	return Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

var forEvents = []string{"Events"}

// Rights returns the rights that a run needs: those of its controllers and of the process.
func Rights(config Config) []Right {
	rights := join(config.Controllers)
	if config.Events && config.EventsEverywhere {
		rights = append(rights, Right{
			Rule:   rule("", "events", "create", "patch"),
			Reason: "Record Events in the namespace of their object; a repetition is a patch.",
			For:    forEvents,
		})
	}
	if config.LeaderElection {
		rights = append(rights, electing(config)...)
	}
	if config.Events && !config.EventsEverywhere {
		rights = append(rights, Right{
			Namespace: "default", Purpose: "events",
			Rule: rule("", "events", "create", "patch"),
			Reason: "Record the end of deletions as Events; a repetition is a patch. Nothing can be created in a " +
				"namespace that is being deleted.",
			For: forEvents,
		})
	}
	return rights
}

// join merges rights of several controllers to the same resources, and drops verbs that are allowed
// for everything.
func join(rights []Right) (joined []Right) {
	var everything []string // the verbs that are allowed for everything
	for _, right := range rights {
		if right.Rule.isAboutEverything() {
			everything = append(everything, right.Rule.Verbs...)
		}
	}
	for _, right := range rights {
		if !right.Rule.isAboutEverything() {
			right.Rule.Verbs = slices.DeleteFunc(slices.Clone(right.Rule.Verbs),
				func(verb string) bool { return slices.Contains(everything, verb) })
		}
		at := slices.IndexFunc(joined,
			func(known Right) bool { return known.Namespace == right.Namespace && known.Rule.isLike(right.Rule) })
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
			known.For = append(slices.Clone(known.For), right.For...)
		}
	}
	for i, everywhere := range joined {
		for _, right := range rights {
			if everywhere.Rule.isAboutEverything() && slices.ContainsFunc(right.Rule.Verbs,
				func(verb string) bool { return slices.Contains(everywhere.Rule.Verbs, verb) }) {
				joined[i].For = append(slices.Clone(joined[i].For), right.For...)
			}
		}
	}
	return joined
}

func (r Rule) isAboutEverything() bool {
	return slices.Equal(r.APIGroups, []string{"*"}) && slices.Equal(r.Resources, []string{"*"})
}

// isLike reports whether the rules differ only in verbs.
func (r Rule) isLike(other Rule) bool {
	return slices.Equal(r.APIGroups, other.APIGroups) && slices.Equal(r.Resources, other.Resources) &&
		slices.Equal(r.ResourceNames, other.ResourceNames)
}

// electing returns the rights to a Lease.
func electing(config Config) []Right {
	const group, leases = "coordination.k8s.io", "leases"
	named := rule(group, leases, "get", "update", "watch")
	named.ResourceNames = []string{config.LeaseName}
	rights := []Right{{
		Rule:   named,
		Reason: "Hold the Lease; the other replicas watch it and take over when it is released.",
	}, {
		Rule:   rule(group, leases, "create"),
		Reason: "Create the Lease. Kubernetes cannot limit this to a name.",
	}}
	for i := range rights {
		rights[i].For = []string{"leader election"}
	}
	if config.Events {
		rights = append(rights, Right{
			Rule: rule("", "events", "create"), Reason: "Record the new leader as an Event.", For: forEvents,
		})
	}
	for i := range rights {
		rights[i].Namespace, rights[i].Purpose = config.LeaseNamespace, "leader-election"
	}
	return rights
}
