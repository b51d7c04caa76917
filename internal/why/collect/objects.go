package collect

import (
	"path"
	"slices"
	"strings"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// object has the fields that are read of objects of the cluster, of whatever type.
type object struct {
	api.PartialObjectMetadata
	Spec struct {
		podSpec
		Replicas *int `json:"replicas"` // of a Deployment or StatefulSet
		Template struct {
			Spec podSpec `json:"spec"`
		} `json:"template"`

		Group   string       `json:"group"` // of an APIService
		Version string       `json:"version"`
		Service *why.Service `json:"service"`

		Conversion struct { // of a CustomResourceDefinition
			Strategy string `json:"strategy"`
			Webhook  struct {
				Client why.ClientConfig `json:"clientConfig"`
			} `json:"webhook"`
		} `json:"conversion"`

		Match struct { // of a policy
			Rules      []why.Rule   `json:"resourceRules"`
			Namespaces why.Selector `json:"namespaceSelector"`
		} `json:"matchConstraints"`
		Policy string `json:"policyName"` // of a binding

		External string `json:"externalName"` // of a Service
	} `json:"spec"`
	Status struct {
		Phase      string            `json:"phase"`
		Conditions conditions        `json:"conditions"`
		Init       []containerStatus `json:"initContainerStatuses"`
		Containers []containerStatus `json:"containerStatuses"`
		Ephemeral  []containerStatus `json:"ephemeralContainerStatuses"`

		ReadyReplicas int `json:"readyReplicas"`
		NumberReady   int `json:"numberReady"`
		NumberDesired int `json:"desiredNumberScheduled"`
	} `json:"status"`

	Webhooks []struct { // of a webhook configuration
		why.Webhook
		Objects    why.Selector `json:"objectSelector"`
		Conditions []struct{}   `json:"matchConditions"`
	} `json:"webhooks"`
	Endpoints []struct { // of an EndpointSlice
		Conditions struct {
			Ready       *bool `json:"ready"`
			Terminating bool  `json:"terminating"`
		} `json:"conditions"`
	} `json:"endpoints"`
	Rules []struct { // of a role
		Verbs     []string `json:"verbs"`
		Groups    []string `json:"apiGroups"`
		Resources []string `json:"resources"`
	} `json:"rules"`
	Of       subject   `json:"roleRef"` // of a binding of a role
	Subjects []subject `json:"subjects"`
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

type subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func apiServiceOf(kept []why.APIService, o *object) []why.APIService {
	available := o.Status.Conditions.get("Available")
	return append(kept, why.APIService{
		Name: o.Name, Service: o.Spec.Service,
		GroupVersion: api.GroupVersion{Group: o.Spec.Group, Version: o.Spec.Version}.String(),
		Available:    available.Status, Reason: available.Reason, Since: available.Since.UTC(),
	})
}

func nodeOf(kept []why.Node, o *object) []why.Node {
	ready := o.Status.Conditions.get("Ready")
	return append(kept, why.Node{Name: o.Name, Ready: ready.Status, Since: ready.Since.UTC()})
}

// headOfDefinition appends a CustomResourceDefinition of which only the metadata was read.
func headOfDefinition(kept []why.Definition, o *api.PartialObjectMetadata) []why.Definition {
	return append(kept, why.Definition{Object: objectOf(&o.ObjectMeta), Type: o.Name})
}

func definitionOf(kept []why.Definition, o *object) []why.Definition {
	kept = headOfDefinition(kept, &o.PartialObjectMetadata)
	if conversion := o.Spec.Conversion; conversion.Strategy == "Webhook" {
		kept[len(kept)-1].Converter = conversion.Webhook.Client
	}
	return kept
}

func policyOf(kept []why.Policy, o *object) []why.Policy {
	return append(kept, why.Policy{
		Name: o.Name, Changed: changed(o.ManagedFields), Of: o.Spec.Policy, Binding: o.Spec.Policy != "",
		Rules: o.Spec.Match.Rules, NamespaceOnly: o.Spec.Match.Namespaces,
	})
}

// leaseOf appends a Lease. The server's clock, by which it was last written, counts as well as that
// of its holder, which may be behind.
func leaseOf(kept []why.Lease, o *api.Lease) []why.Lease {
	l := why.Lease{Namespace: o.Namespace, Name: o.Name, Holder: o.Spec.HolderIdentity,
		Renewed: lastWrite(o.ManagedFields, true)}
	if o.Spec.RenewTime != nil {
		l.Renewed = later(l.Renewed, o.Spec.RenewTime.Time)
	}
	if o.Spec.LeaseDurationSeconds != nil {
		l.Duration = time.Duration(*o.Spec.LeaseDurationSeconds) * time.Second
	}
	return append(kept, l)
}

// workloadOf returns what appends a workload of a kind: of the pods one that runs or is going to.
func workloadOf(kind string) func(kept []why.Workload, o *object) []why.Workload {
	return func(kept []why.Workload, o *object) []why.Workload {
		spec := &o.Spec.Template.Spec
		if kind == why.PodKind {
			spec = &o.Spec.podSpec
		}
		w := why.Workload{
			Kind: kind, Namespace: o.Namespace, Name: o.Name, Replicas: 1, Since: o.CreationTimestamp.UTC(),
			ServiceAccount: spec.ServiceAccount, Ready: o.Status.ReadyReplicas + o.Status.NumberReady,
		}
		for _, condition := range []string{"Available", "Ready"} {
			w.Since = later(w.Since, o.Status.Conditions.get(condition).Since.Time)
		}
		for _, c := range spec.Containers {
			image, _, _ := strings.Cut(path.Base(c.Image), ":")
			image, _, _ = strings.Cut(image, "@")
			w.Words = slices.Concat(w.Words, []string{c.Name, image}, programsOf(c.Command), programsOf(c.Args))
		}
		switch {
		case kind == why.PodKind:
			ended := o.Status.Phase == "Succeeded" || o.Status.Phase == "Failed" || o.DeletionTimestamp != nil
			if slices.ContainsFunc(o.Status.Containers, containerStatus.runs) {
				w.Ready = 1
			} else if ended {
				return kept
			}
		case kind == "daemonset":
			w.Replicas = o.Status.NumberDesired
		case o.Spec.Replicas != nil:
			if w.Replicas = *o.Spec.Replicas; w.Replicas == 0 {
				// kubectl scale leaves no entry, and its effect a status
				w.Since = later(w.Since, lastWrite(o.ManagedFields, true))
			}
		}
		return append(kept, w)
	}
}

// podOf returns a pod of the namespace.
func podOf(o *object, object why.Object) why.Pod {
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
func managerOf(kept []why.Manager, o *object) []why.Manager {
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

// rights returns a role's rights to update or patch resources of some groups.
func (o *object) rights(groups []string) (rights []why.Grant) {
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
