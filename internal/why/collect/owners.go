package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// maxStamps is how many objects are read to find the owners of their finalizers.
const maxStamps = 24

// workloads lists the workloads that may be the owners, and the pods that run or are going to: an
// owner may have none of these workloads.
func (c *collector) workloads(ctx context.Context) {
	kinds := []struct {
		kind string
		gvr  api.GroupVersionResource
	}{
		{"deployment", api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}},
		{"statefulset", api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}},
		{"daemonset", api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}},
		{why.CronKind, api.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}},
		{why.PodKind, api.PodsResource},
	}
	answers := make([]why.Answer[why.Workload], len(kinds))
	var reads []func()
	for i, k := range kinds {
		reads = append(reads, func() {
			answers[i] = listWhole(ctx, c, k.gvr, "", api.ListOptions{}, func(o *api.Unstructured) (why.Workload, bool) {
				w := workload(k.kind, o)
				return w, k.kind != why.PodKind || w.Ready > 0 || mayRun(o)
			})
		})
	}
	parallel(reads...)
	all := answers[0]
	for _, answer := range answers[1:] {
		all.Items, all.Failed = slices.Concat(all.Items, answer.Items), cmp.Or(all.Failed, answer.Failed)
	}
	c.evidence.Workloads = all
}

func workload(kind string, o *api.Unstructured) why.Workload {
	w := why.Workload{
		Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), Replicas: 1,
		Ready: int(o.NestedInt64("status", "readyReplicas") + o.NestedInt64("status", "numberReady")), Since: moment(o.NestedString("metadata", "creationTimestamp")),
	}
	for _, condition := range []string{"Available", "Ready"} {
		if at := moment(text(conditionOf(o, condition), "lastTransitionTime")); at.After(w.Since) {
			w.Since = at
		}
	}
	spec := []string{"spec", "template", "spec"}
	switch kind {
	case why.PodKind:
		spec = []string{"spec"}
		statuses := items(o.Nested("status", "containerStatuses"))
		if slices.ContainsFunc(statuses, runs) {
			w.Ready = 1
		}
		for _, status := range statuses {
			if at := lastRun(status); at.After(w.Since) {
				w.Since = at
			}
		}
	case why.CronKind:
		spec = []string{"spec", "jobTemplate", "spec", "template", "spec"}
		if suspended, _ := o.Nested("spec", "suspend").(bool); suspended {
			w.Replicas = 0
		}
	case "daemonset":
		w.Replicas = int(o.NestedInt64("status", "desiredNumberScheduled"))
	default:
		if wanted, ok := o.Nested("spec", "replicas").(int64); ok {
			w.Replicas = int(wanted)
		}
		if at := written(o); w.Replicas == 0 && at.After(w.Since) { // kubectl scale leaves no entry, and its effect a status
			w.Since = at
		}
	}
	w.ServiceAccount = o.NestedString(append(spec, "serviceAccountName")...)
	w.Kubeconfig = choosesIdentity(o.Nested(spec...))
	for _, container := range items(o.Nested(append(spec, "containers")...)) {
		image, _, _ := strings.Cut(path.Base(text(container, "image")), ":")
		image, _, _ = strings.Cut(image, "@")
		w.Words = append(w.Words, text(container, "name"), image)
		w.Words = slices.Concat(w.Words, programsOf(words(container["command"])), programsOf(words(container["args"])))
	}
	return w
}

// otherIdentity is what the specification of a pod has whose program sends its requests under
// another identity than its service account's: in command lines, variables, mounts and Secrets.
var otherIdentity = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)kube[-_]?config|/\.kube"|"--as["=]|"--token|"--use-service-account-credentials` +
		`|"automountServiceAccountToken":false`)
})

// choosesIdentity reports whether the program in a pod may have another identity than its service
// account's.
func choosesIdentity(spec any) bool {
	text, err := json.Marshal(spec)
	return err != nil || otherIdentity().Match(text)
}

// mayRun reports whether a pod is going to run: it is neither finished nor deleted.
func mayRun(o *api.Unstructured) bool {
	phase := o.NestedString("status", "phase")
	return phase != "Succeeded" && phase != "Failed" && o.GetDeletionTimestamp() == nil
}

// runs reports whether a container is running, by its status.
func runs(status map[string]any) bool {
	state, _ := status["state"].(map[string]any)
	_, running := state["running"]
	return running
}

// lastRun returns when a container last started or ended, by its status; zero if it never ran.
func lastRun(status map[string]any) (last time.Time) {
	for _, which := range []string{"state", "lastState"} {
		states, _ := status[which].(map[string]any)
		for _, state := range []string{"running", "terminated"} {
			times, _ := states[state].(map[string]any)
			for _, key := range []string{"startedAt", "finishedAt"} {
				if at := moment(text(times, key)); at.After(last) {
					last = at
				}
			}
		}
	}
	return last
}

// programsOf returns the words of a command line that may be programs, without their folders. The
// word after a flag is its value, but for -c of a shell.
func programsOf(line []string) (programs []string) {
	const most = 8
	flag := ""
	for _, word := range strings.Fields(strings.Join(line, " ")) {
		isValue := strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && flag != "-c"
		if !isValue && !strings.ContainsAny(word[:1], "-$\"'") && !strings.Contains(word, "=") && len(programs) < most {
			programs = append(programs, path.Base(word))
		}
		flag = word
	}
	return programs
}

// stamps reads one object for each held finalizer that no table lists, and Services with a load
// balancer.
func (c *collector) stamps(ctx context.Context, held []why.Held) {
	for _, h := range held {
		keeper, listed := h.Keeper()
		if listed && !keeper.Balancer || len(c.evidence.Stamps) == maxStamps {
			continue
		}
		stamp := why.Stamp{Type: h.Type.Name(), Object: h.Object.Name, Finalizer: h.Finalizer}
		namespace := c.evidence.Name
		if h.Type.GVR() == api.NamespacesResource {
			namespace = ""
		}
		answer := listWhole(ctx, c, h.Type.GVR(), namespace, api.ListOptions{FieldSelector: "metadata.name=" + h.Object.Name},
			func(o *api.Unstructured) (struct{}, bool) {
				readStamp(o, &stamp)
				return struct{}{}, true
			})
		stamp.Request = answer.Request
		if answer.Failed == nil {
			c.evidence.Stamps = append(c.evidence.Stamps, stamp)
		}
	}
}

// readStamp reads which managers set the finalizer, from managedFields.
func readStamp(o *api.Unstructured, stamp *why.Stamp) {
	balancer, _ := o.Nested("status", "loadBalancer").(map[string]any)
	stamp.Balancer = len(balancer) > 0
	for _, entry := range items(o.Nested("metadata", "managedFields")) {
		fields := api.Unstructured{Object: entry}
		finalizers, _ := fields.Nested("fieldsV1", "f:metadata", "f:finalizers").(map[string]any)
		if _, has := finalizers[`v:"`+stamp.Finalizer+`"`]; has {
			stamp.Writers = append(stamp.Writers, why.Writer{Manager: text(entry, "manager"), At: moment(text(entry, "time"))})
		}
	}
}

const (
	rbacGroup = "rbac.authorization.k8s.io"
	// allAccounts is the group of all service accounts. With a suffix it is that of one namespace.
	allAccounts = "system:serviceaccounts"
)

// rule is a rule of a role that allows to update or patch resources of a group, in one or all
// namespaces.
type rule struct {
	role      string // ClusterRole/NAME or Role/NAMESPACE/NAME
	group     string
	resources []string
}

// binding gives a role to subjects.
type binding struct {
	namespace string // empty: of all namespaces
	role      string
	subjects  []why.Grant
}

// grants finds the subjects that may update held types, by a rule that names their group or has
// all.
func (c *collector) grants(ctx context.Context, held []why.Held) {
	groups := []string{why.Every}
	for _, h := range held {
		if h.ByRights() {
			groups = append(groups, h.Type.Group)
		}
	}
	resource := func(name string) api.GroupVersionResource {
		return api.GroupVersionResource{Group: rbacGroup, Version: "v1", Resource: name}
	}
	readRules := func(o *api.Unstructured) ([]rule, bool) { return roleRules(o), true }
	readBinding := func(o *api.Unstructured) (binding, bool) { return bindingOf(o), true }
	var clusterRoles, roles why.Answer[[]rule]
	var clusterBindings, bindings why.Answer[binding]
	parallel( // those of other namespaces show who has had a right here, too
		func() { clusterRoles = listWhole(ctx, c, resource("clusterroles"), "", api.ListOptions{}, readRules) },
		func() { roles = listWhole(ctx, c, resource("roles"), "", api.ListOptions{}, readRules) },
		func() {
			clusterBindings = listWhole(ctx, c, resource("clusterrolebindings"), "", api.ListOptions{}, readBinding)
		},
		func() { bindings = listWhole(ctx, c, resource("rolebindings"), "", api.ListOptions{}, readBinding) },
	)
	answer := why.Answer[why.Grant]{
		Request: clusterBindings.Request, Failed: cmp.Or(clusterRoles.Failed, roles.Failed, clusterBindings.Failed, bindings.Failed),
	}
	if answer.Failed == nil {
		rules := slices.DeleteFunc(append(slices.Concat(clusterRoles.Items...), slices.Concat(roles.Items...)...), func(r rule) bool {
			return !slices.Contains(groups, r.group)
		})
		answer.Items = granted(rules, slices.Concat(clusterBindings.Items, bindings.Items), c.evidence.Name)
	}
	c.evidence.Grants = answer
}

// roleRules returns a role's rules to update or patch, one for each group. Who may act as others may
// have the rights of any.
func roleRules(o *api.Unstructured) (found []rule) {
	role := "ClusterRole/" + o.GetName()
	if o.GetNamespace() != "" {
		role = "Role/" + o.GetNamespace() + "/" + o.GetName()
	}
	for _, entry := range items(o.Nested("rules")) {
		verbs := words(entry["verbs"])
		if slices.Contains(verbs, "impersonate") {
			found = append(found, rule{role: role, group: why.Every, resources: []string{why.Every}})
		}
		if !slices.ContainsFunc([]string{"update", "patch", "*"}, func(verb string) bool { return slices.Contains(verbs, verb) }) {
			continue
		}
		for _, group := range words(entry["apiGroups"]) {
			found = append(found, rule{role: role, group: group, resources: words(entry["resources"])})
		}
	}
	return found
}

func bindingOf(o *api.Unstructured) binding {
	b := binding{namespace: o.GetNamespace(), role: o.NestedString("roleRef", "kind") + "/" + o.NestedString("roleRef", "name")}
	if o.NestedString("roleRef", "kind") == "Role" {
		b.role = "Role/" + o.GetNamespace() + "/" + o.NestedString("roleRef", "name")
	}
	for _, subject := range items(o.Nested("subjects")) {
		grant := why.Grant{Subject: strings.ToLower(text(subject, "kind")) + " " + text(subject, "name")}
		account, isAccount := strings.CutPrefix(text(subject, "name"), "system:serviceaccount:")
		switch name := text(subject, "name"); {
		case text(subject, "kind") == "ServiceAccount":
			grant.Service = why.Service{Namespace: cmp.Or(text(subject, "namespace"), o.GetNamespace()), Name: name}
		case isAccount: // the name by which the server knows it as a user
			grant.Service.Namespace, grant.Service.Name, _ = strings.Cut(account, ":")
		case name == allAccounts || name == "system:authenticated":
			grant.Service = why.Service{Namespace: why.Every, Name: why.Every}
		case strings.HasPrefix(name, allAccounts+":"):
			grant.Service = why.Service{Namespace: strings.TrimPrefix(name, allAccounts+":"), Name: why.Every}
		}
		b.subjects = append(b.subjects, grant)
	}
	return b
}

// granted joins rules and bindings. A right to all groups counts only if it is one in the
// namespace.
func granted(rules []rule, bindings []binding, namespace string) (grants []why.Grant) {
	for _, b := range bindings {
		for _, r := range rules {
			elsewhere := ""
			if b.namespace != "" && b.namespace != namespace {
				elsewhere = b.namespace
			}
			if r.role != b.role || elsewhere != "" && (r.group == why.Every || !why.Type{Group: r.group}.IsCustom()) {
				continue
			}
			for _, subject := range b.subjects {
				subject.Group, subject.Resources, subject.Elsewhere = r.group, r.resources, elsewhere
				grants = append(grants, subject)
			}
		}
	}
	return grants
}

// pods counts the pods of the service accounts that may update held types. Of all pods it keeps
// only those that may be an owner, and of the many rights to all or to built-in types those of
// pods.
func (c *collector) pods(held []why.Held) {
	e := &c.evidence
	for i := range e.Grants.Items {
		grant := &e.Grants.Items[i]
		if grant.Service.Name == "" {
			continue
		}
		grant.Failed = e.Workloads.Failed
		for _, w := range e.Workloads.Items {
			if w.Kind == why.PodKind && grant.Includes(w.Account()) && (w.Ready > 0 || e.MayStart(w)) {
				grant.Pods++
			}
		}
	}
	e.Grants.Items = slices.DeleteFunc(e.Grants.Items, func(g why.Grant) bool {
		custom := g.Group != why.Every && why.Type{Group: g.Group}.IsCustom()
		owns := slices.ContainsFunc(e.Workloads.Items, func(w why.Workload) bool {
			return g.Includes(w.Account()) && slices.ContainsFunc(held, func(h why.Held) bool { return e.MayOwn(w, h) })
		})
		return !custom && g.Service.Name != "" && g.Pods == 0 && g.Failed == nil && !owns
	})
	e.Workloads.Items = slices.DeleteFunc(e.Workloads.Items, func(w why.Workload) bool {
		return w.Kind == why.PodKind && !slices.ContainsFunc(held, func(h why.Held) bool { return e.MayOwn(w, h) })
	})
}

// maxOwners is how many rights of owners are asked about: four or five for each.
const maxOwners = 30

// ownersRights checks whether running owners may still remove their finalizers.
func (c *collector) ownersRights(ctx context.Context) {
	e := &c.evidence
	var asked []why.Refusal
	for _, h := range slices.Concat(e.Held(), e.Awaiting()) {
		for _, w := range e.NamedWorkloads(h) {
			for _, refusal := range h.OwnersRights(w) {
				if w.Ready == 0 || w.Namespace == e.Name || len(asked) == maxOwners || slices.Contains(asked, refusal) {
					continue
				}
				asked = append(asked, refusal)
				e.Reviews = append(e.Reviews, c.review(ctx, refusal))
			}
		}
	}
}
