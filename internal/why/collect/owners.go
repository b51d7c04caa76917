package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// workloads lists the workloads that may be the owners. Of the pods, of which an owner may have no
// other workload, it keeps those that may be one.
func (c *collector) workloads(ctx context.Context, held []why.Held) {
	e := &c.evidence
	e.Workloads = joined(func(resource string) why.Answer[why.Workload] {
		if resource == api.PodsResource.Resource {
			return list(ctx, c, query{gvr: api.PodsResource}, appendPod)
		}
		q := query{gvr: v1("apps", resource)}
		return list(ctx, c, q, func(kept []why.Workload, o *workload) []why.Workload {
			return append(kept, o.evidence(strings.TrimSuffix(resource, "s")))
		})
	}, "deployments", "statefulsets", "daemonsets", "pods")
	e.Workloads.Items = slices.DeleteFunc(slices.Clone(e.Workloads.Items), func(w why.Workload) bool {
		return w.Kind == why.PodKind && !slices.ContainsFunc(held, func(h why.Held) bool { return h.MayOwn(w) })
	})
}

// stamps reads one object for each held finalizer that no table lists, and Services with a load
// balancer.
func (c *collector) stamps(ctx context.Context, held []why.Held) {
	for _, h := range held {
		keeper := h.Keeper()
		if keeper.Known() && !keeper.Balancer || len(c.evidence.Stamps) == maxStamps {
			continue
		}
		stamp := why.Stamp{Type: h.Type.Name(), Object: h.Object.Name, Finalizer: h.Finalizer}
		namespace := c.evidence.Name
		if h.Type.GVR() == api.NamespacesResource {
			namespace = ""
		}
		q := query{gvr: h.Type.GVR(), namespace: namespace, fields: "metadata.name=" + h.Object.Name}
		answer := list(ctx, c, q, whole[*stamped])
		stamp.Request = answer.Request
		for _, o := range answer.Items {
			o.stamp(&stamp)
		}
		if answer.Failed == nil {
			c.evidence.Stamps = append(c.evidence.Stamps, stamp)
		}
	}
}

// stamped has the fields that are read of a held object of any type.
type stamped struct {
	api.PartialObjectMetadata
	Status any `json:"status"`
}

// stamp reads which managers set the finalizer, from managedFields.
func (o *stamped) stamp(stamp *why.Stamp) {
	status, _ := o.Status.(map[string]any)
	balancer, _ := status["loadBalancer"].(map[string]any)
	stamp.Balancer = len(balancer) > 0
	entries, _ := o.ManagedFields.Entries() // without them the writers stay unknown
	for _, entry := range entries {
		var fields struct {
			Metadata struct {
				Finalizers map[string]any `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		_ = json.Unmarshal(entry.FieldsV1, &fields)
		if _, has := fields.Metadata.Finalizers[`v:"`+stamp.Finalizer+`"`]; has {
			w := why.Writer{Manager: entry.Manager}
			if entry.Time != nil {
				w.At = entry.Time.UTC()
			}
			stamp.Writers = append(stamp.Writers, w)
		}
	}
}

// role has the fields that are read of a role or of a binding of one, of a namespace or of all.
type role struct {
	api.PartialObjectMetadata
	Rules []struct {
		Verbs     []string `json:"verbs"`
		Groups    []string `json:"apiGroups"`
		Resources []string `json:"resources"`
	} `json:"rules"`
	Of       subject   `json:"roleRef"`
	Subjects []subject `json:"subjects"`
}

type subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// grants finds the service accounts that may update held custom types, by a rule that names their
// group. Roles and bindings of other namespaces show who has had a right here, too.
func (c *collector) grants(ctx context.Context, held []why.Held) {
	var groups []string
	for _, h := range held {
		if h.ByRights() {
			groups = append(groups, h.Type.Group)
		}
	}
	all := joined(func(resource string) why.Answer[*role] {
		return list(ctx, c, query{gvr: v1("rbac.authorization.k8s.io", resource)}, whole[*role])
	}, "clusterrolebindings", "rolebindings", "clusterroles", "roles")
	c.evidence.Grants = why.Answer[why.Grant]{Request: all.Request, Failed: all.Failed}
	if all.Failed == nil {
		c.evidence.Grants.Items = granted(all.Items, groups)
	}
}

// granted joins roles and bindings.
func granted(roles []*role, groups []string) (grants []why.Grant) {
	rights := map[string][]why.Grant{} // by role: NAMESPACE/NAME, or /NAME of a ClusterRole
	for _, o := range roles {
		key := o.Namespace + "/" + o.Name
		rights[key] = append(rights[key], o.rights(groups)...)
	}
	for _, b := range roles {
		key := "/" + b.Of.Name
		if b.Of.Kind == "Role" {
			key = b.Namespace + key
		}
		for _, right := range rights[key] {
			for _, s := range b.Subjects {
				right.Service = why.Service{}
				if s.Kind == "ServiceAccount" {
					right.Service = why.Service{Namespace: cmp.Or(s.Namespace, b.Namespace), Name: s.Name}
				}
				grants = append(grants, right)
			}
		}
	}
	return grants
}

// rights returns a role's rights to update or patch resources of some groups.
func (o *role) rights(groups []string) (rights []why.Grant) {
	for _, r := range o.Rules {
		updates := slices.ContainsFunc(r.Verbs,
			func(verb string) bool { return verb == "update" || verb == "patch" || verb == "*" })
		for _, group := range r.Groups {
			if updates && slices.Contains(groups, group) {
				rights = append(rights, why.Grant{Group: group, Resources: r.Resources})
			}
		}
	}
	return rights
}

// ownersRights checks whether running owners may still remove their finalizers.
func (c *collector) ownersRights(ctx context.Context) {
	e := &c.evidence
	var asked []why.Refusal
	for _, h := range e.HeldOrAwaiting() {
		for _, w := range e.Workloads.Items {
			if !h.ByRights() || w.Ready == 0 || w.Namespace == e.Name || !h.Owns(w) {
				continue
			}
			for _, refusal := range h.OwnersRights(w) {
				if len(asked) < maxOwners && !slices.Contains(asked, refusal) {
					asked = append(asked, refusal)
					e.Reviews = append(e.Reviews, c.review(ctx, refusal))
				}
			}
		}
	}
}

// pod has the fields that are read of a Pod.
type pod struct {
	api.PartialObjectMetadata
	Spec   podSpec `json:"spec"`
	Status struct {
		Phase      string            `json:"phase"`
		Conditions conditions        `json:"conditions"`
		Init       []containerStatus `json:"initContainerStatuses"`
		Containers []containerStatus `json:"containerStatuses"`
		Ephemeral  []containerStatus `json:"ephemeralContainerStatuses"`
	} `json:"status"`
}

// podSpec is the specification of a pod, or of the pods of a workload.
type podSpec struct {
	NodeName       string      `json:"nodeName"`
	ServiceAccount string      `json:"serviceAccountName"`
	Containers     []container `json:"containers"`
	Volumes        []struct {
		Name  string `json:"name"`
		Claim *struct {
			Name string `json:"claimName"`
		} `json:"persistentVolumeClaim"`
		Ephemeral *struct{} `json:"ephemeral"`
	} `json:"volumes"`
}

type container struct {
	Name    string   `json:"name"`
	Image   string   `json:"image"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
}

func (c container) line() []string { return slices.Concat(c.Command, c.Args) }

// containerStatus has the state of a container by name: running, terminated or waiting.
type containerStatus struct {
	Name  string              `json:"name"`
	State map[string]struct{} `json:"state"`
}

func (s containerStatus) runs() bool {
	_, running := s.State["running"]
	return running
}

// mayRun reports whether a pod is going to run: it is neither finished nor deleted.
func (o *pod) mayRun() bool {
	return o.Status.Phase != "Succeeded" && o.Status.Phase != "Failed" && o.DeletionTimestamp == nil
}

// podOf returns a pod of the namespace.
func podOf(o *pod, object why.Object) why.Pod {
	p := why.Pod{Object: object, Node: o.Spec.NodeName}
	for _, volume := range o.Spec.Volumes {
		switch {
		case volume.Claim != nil:
			p.Claims = append(p.Claims, volume.Claim.Name)
		case volume.Ephemeral != nil: // the claim of a generic ephemeral volume is called like both
			p.Claims = append(p.Claims, o.Name+"-"+volume.Name)
		}
	}
	for _, status := range slices.Concat(o.Status.Init, o.Status.Containers, o.Status.Ephemeral) {
		if status.runs() {
			p.Running = append(p.Running, status.Name)
		}
	}
	return p
}

// managerOf appends a pod of kube-controller-manager that is not terminating.
func managerOf(kept []why.Manager, o *pod) []why.Manager {
	var entries []string // kube-controller-manager adds them up
	for _, c := range o.Spec.Containers {
		if why.RunsManager(c.Name, c.Image, c.line()) {
			entries = append(entries, why.ControllersFlag(c.line())...)
		}
	}
	if o.DeletionTimestamp != nil {
		return kept
	}
	return append(kept, why.Manager{
		Name: o.Name, Ready: o.Status.Conditions.get("Ready").Status == "True", Controllers: strings.Join(entries, ","),
		Created: o.CreationTimestamp.UTC(),
	})
}

// workload has the fields that are read of a Deployment, StatefulSet or DaemonSet.
type workload struct {
	api.PartialObjectMetadata
	Spec struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Spec podSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Conditions    conditions `json:"conditions"`
		ReadyReplicas int        `json:"readyReplicas"`
		NumberReady   int        `json:"numberReady"`
		NumberDesired int        `json:"desiredNumberScheduled"`
	} `json:"status"`
}

// workloadOf returns what a pod and the other workloads have in common.
func workloadOf(kind string, o *api.ObjectMeta, spec *podSpec, all conditions) why.Workload {
	w := why.Workload{
		Kind: kind, Namespace: o.Namespace, Name: o.Name, Replicas: 1, Since: o.CreationTimestamp.UTC(),
		ServiceAccount: spec.ServiceAccount,
	}
	for _, condition := range []string{"Available", "Ready"} {
		w.Since = later(w.Since, all.get(condition).Since.Time)
	}
	for _, c := range spec.Containers {
		image, _, _ := strings.Cut(path.Base(c.Image), ":")
		image, _, _ = strings.Cut(image, "@")
		w.Words = slices.Concat(w.Words, []string{c.Name, image}, programsOf(c.Command), programsOf(c.Args))
	}
	return w
}

func (o *workload) evidence(kind string) why.Workload {
	w := workloadOf(kind, &o.ObjectMeta, &o.Spec.Template.Spec, o.Status.Conditions)
	w.Ready = o.Status.ReadyReplicas + o.Status.NumberReady
	switch {
	case kind == "daemonset":
		w.Replicas = o.Status.NumberDesired
	case o.Spec.Replicas != nil:
		w.Replicas = *o.Spec.Replicas
	}
	if w.Replicas == 0 && o.Spec.Replicas != nil { // kubectl scale leaves no entry, and its effect a status
		w.Since = later(w.Since, lastWrite(o.ManagedFields, true))
	}
	return w
}

// appendPod appends a pod that runs or is going to.
func appendPod(kept []why.Workload, o *pod) []why.Workload {
	w := workloadOf(why.PodKind, &o.ObjectMeta, &o.Spec, o.Status.Conditions)
	if slices.ContainsFunc(o.Status.Containers, containerStatus.runs) {
		w.Ready = 1
	}
	if w.Ready == 0 && !o.mayRun() {
		return kept
	}
	return append(kept, w)
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
