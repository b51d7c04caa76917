package why

import "slices"

// This file says who has a right to update a type, and may therefore be the owner of a finalizer.

// mayElsewhere returns another namespace in which a service account has that right, "" for none.
func (e *Evidence) mayElsewhere(account Service, t *Type) string {
	for _, g := range e.Grants.Items {
		if g.covers(t) && g.Includes(account) && g.Elsewhere != "" {
			return g.Elsewhere
		}
	}
	return ""
}

// covers reports whether the right applies to the type. The metadata of a built-in type may also be
// written with its status.
func (g Grant) covers(t *Type) bool {
	return g.Group == t.Group &&
		(includes(g.Resources, t.Resource, Every) || !t.IsCustom() && includes(g.Resources, t.Resource+"/status", "*/status"))
}

// grantsFor returns the grants of a type.
func (e *Evidence) grantsFor(t *Type) []Grant {
	return slices.DeleteFunc(slices.Clone(e.Grants.Items), func(g Grant) bool { return !g.covers(t) })
}

// builtInGroups are the groups of kube-apiserver. Others that end in k8s.io belong to programs
// beside it, such as gateway.networking.k8s.io.
var builtInGroups = []string{
	"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
	"authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
	"extensions", "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
	"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// isAccount reports whether the subject is a service account.
func (g Grant) isAccount() bool { return g.Service.Name != "" }

// Account is the service account, as namespace/name.
func (g Grant) Account() string { return g.Service.String() }

// Includes reports whether the subject is a service account, or a group that has it.
func (g Grant) Includes(account Service) bool {
	return g.isAccount() && (g.Service.Namespace == Every || g.Service.Namespace == account.Namespace) &&
		(g.Service.Name == Every || g.Service.Name == account.Name)
}
