package why

import "slices"

// This file says who has a right to update a type, and may therefore be the owner of a finalizer.

// leftAccount reports whether an owner that ran in the namespace has left the rights of a service
// account with its name, or with one that the table has for it: all else went with its pods.
func (e *Evidence) leftAccount(h Held) bool {
	keeper, _ := h.Keeper()
	return e.ranInside(h) && slices.ContainsFunc(e.grantsFor(h.Type), func(g Grant) bool {
		return g.isAccount() && slices.Contains(append(e.namesOf(h), keeper.Accounts...), g.Service.Name)
	})
}

// accountMay reports whether a service account has a right to update a type.
func (e *Evidence) accountMay(account Service, t *Type) bool {
	return slices.ContainsFunc(e.Grants.Items, func(g Grant) bool { return g.covers(t) && g.Includes(account) })
}

// mayElsewhere returns another namespace in which a service account has that right, "" for none.
func (e *Evidence) mayElsewhere(account Service, t *Type) string {
	for _, g := range e.Grants.Items {
		if g.covers(t) && g.Includes(account) && g.Elsewhere != "" {
			return g.Elsewhere
		}
	}
	return ""
}

// homesOf returns the namespaces in which an owner was at home: that of its stopped workload, and
// those of accounts with rights to the type.
func (e *Evidence) homesOf(h Held, stopped *Workload) (namespaces []string) {
	if stopped != nil {
		namespaces = append(namespaces, stopped.Namespace)
	}
	for _, g := range e.grantsFor(h.Type) {
		if g.isAccount() {
			namespaces = append(namespaces, g.Service.Namespace)
		}
	}
	return slices.DeleteFunc(namespaces, func(namespace string) bool { return namespace == managerNamespace || namespace == Every })
}

// may looks for the fourth sign of life: a right to update the type. A pod that runs with it may be
// the owner under another name, also one in kube-system. A user who has it may be a program outside
// the cluster; one who may update everything counts only if its name has the owner's.
func (e *Evidence) may(f *Finding, h Held, name string, programs []string) string {
	if !h.ByRights() {
		return ownerGone
	}
	if !e.Grants.Known() {
		f.lack(e.Grants.Failed, "the roles could not be read")
		return ownerUnknown
	}
	for _, grant := range e.Grants.Items {
		broad := (grant.Group == Every || !h.Type.IsCustom()) && !includes(grant.Resources, h.Type.Resource, h.Type.Resource+"/status")
		switch {
		case !grant.covers(h.Type), grant.Subject == scheduler, grant.isNetworkAgents(h, e.namesOf(h)):
		case !grant.isAccount() && broad && !slices.ContainsFunc(programs, func(program string) bool { return hasWord(grant.Subject, program) }):
		case !grant.isAccount():
			f.lack(nil, "%s may update %s, and may be outside the cluster", grant.Subject, h.Type.Name())
			return ownerUnknown
		case broad && isCreator(grant.Service.Name): // it does so on behalf of others
		case grant.Failed != nil:
			f.lack(grant.Failed, "the pods of service account %s could not be read", grant.Account())
			return ownerUnknown
		case grant.Pods > 0 && grant.Elsewhere != "":
			f.lack(nil, "a pod of service account %s may update %s in %s, and may be %s, which has lost this right here",
				grant.Account(), h.Type.Name(), grant.Elsewhere, name)
			return ownerUnknown
		case grant.Pods > 0:
			f.lack(nil, "a pod of service account %s may update %s, and may be %s", grant.Account(), h.Type.Name(), name)
			return ownerUnknown
		case !broad && grant.Elsewhere == "" && e.isForeign(grant.Service, h):
			f.lack(nil, "service account %s may update %s and has no pod: %s may have its token, outside the cluster", grant.Account(), h.Type.Name(), name)
			return ownerUnknown
		}
	}
	f.saw(1, e.Grants.Request, "no pod runs that may update %s", h.Type.Name())
	return ownerGone
}

// isForeign reports whether a service account is neither one of the owner's, by its name or by the
// namespace of a stopped workload or a Lease, nor one of this namespace or of
// kube-controller-manager.
func (e *Evidence) isForeign(account Service, h Held) bool {
	keeper, _ := h.Keeper()
	if account.Name == Every || account.Namespace == e.Name || account.Namespace == managerNamespace {
		return false
	}
	stopped := e.stoppedOwner(h)
	isAtHome := stopped != nil && stopped.Namespace == account.Namespace || slices.ContainsFunc(e.AllLeases.Items, func(l Lease) bool {
		return l.Namespace == account.Namespace && l.isOf(e.namesOf(h))
	})
	return !isAtHome && !slices.Contains(append(e.namesOf(h), keeper.Accounts...), account.Name)
}

// scheduler may write the status of every pod, and owns no finalizer.
const scheduler = "user system:kube-scheduler"

// isNetworkAgents reports whether an account may write only the status of a built-in type, as those
// of network agents may, and is not called like the finalizer's owner.
func (g Grant) isNetworkAgents(h Held, names []string) bool {
	keeper, _ := h.Keeper()
	return g.isAccount() && !h.Type.IsCustom() && !includes(g.Resources, h.Type.Resource, Every) &&
		!slices.Contains(append(names, keeper.Accounts...), g.Service.Name)
}

// covers reports whether the right applies to the type. The metadata of a built-in type may also be
// written with its status.
func (g Grant) covers(t *Type) bool {
	return (g.Group == t.Group || g.Group == Every) &&
		(includes(g.Resources, t.Resource, Every) || !t.IsCustom() && includes(g.Resources, t.Resource+"/status", "*/status"))
}

// grantsFor returns the grants of a type by rules that name its group.
func (e *Evidence) grantsFor(t *Type) []Grant {
	return slices.DeleteFunc(slices.Clone(e.Grants.Items), func(g Grant) bool { return g.Group == Every || !g.covers(t) })
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
