package why

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// This page has the evidence about the cluster around the namespace: other servers, webhooks,
// policies, controllers and nodes.

// APIService is a group version of another server.
type APIService struct {
	Name         string `json:"name"`
	GroupVersion string `json:"groupVersion"`
	// Service is the Service in front of that server; nil for types of kube-apiserver itself.
	Service   *Service  `json:"service,omitempty"`
	Available string    `json:"available,omitempty"` // "True", "False", "Unknown", or "" without that condition
	Reason    string    `json:"reason,omitempty"`
	Since     time.Time `json:"since,omitzero"`
}

// Service names a Service.
type Service struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (s Service) String() string { return s.Namespace + "/" + s.Name }

// Definition describes a CustomResourceDefinition.
type Definition struct {
	Object
	// Type is the type that it defines: "databases.example.com". Kind is its kind, if the whole
	// object was read.
	Type string `json:"type"`
	Kind string `json:"kind,omitempty"`
	// Converter is where its conversion webhook is; empty without one.
	Converter ClientConfig `json:"converter,omitzero"`
	// Changed is when it was last written, its status apart, if the whole object was read.
	Changed time.Time `json:"changed,omitzero"`
}

// Manager is a pod of kube-controller-manager.
type Manager struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready,omitempty"`
	// Controllers is the value of --controllers; empty: the default, all.
	Controllers string `json:"controllers,omitempty"`
	// Created is when the pod was created.
	Created time.Time `json:"created,omitzero"`
}

// Lease is a Lease of coordination.k8s.io.
type Lease struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Holder    string `json:"holder,omitempty"`
	// Renewed is the later one of its renewTime, by the clock of its holder, and its last write.
	Renewed  time.Time     `json:"renewed,omitzero"`
	Duration time.Duration `json:"duration,omitempty"`
}

// Expired reports whether the Lease has no holder or was not renewed in time. A Lease without a
// duration has the usual one.
func (l Lease) Expired(now time.Time) bool {
	return l.Holder == "" || now.After(l.Renewed.Add(cmp.Or(l.Duration, usualDuration)))
}

// usualDuration is client-go's default of leaseDurationSeconds.
const usualDuration = 15 * time.Second

// Probe is a GET of one group version.
type Probe struct {
	GroupVersion string   `json:"groupVersion"`
	Request      string   `json:"request"`
	Failed       *Failure `json:"failed,omitempty"`
}

// ClientConfig says where the server of a webhook is: behind a Service, or at a URL.
type ClientConfig struct {
	Service *Service `json:"service,omitempty"`
	URL     string   `json:"url,omitempty"`
}

// Webhook is one webhook of a configuration, with the API's names of its fields.
type Webhook struct {
	// Resource is validatingwebhookconfigurations or mutatingwebhookconfigurations.
	Resource      string `json:"resource"`
	Configuration string `json:"configuration"`
	Name          string `json:"name"`
	FailurePolicy string `json:"failurePolicy,omitempty"`
	ClientConfig  `json:"clientConfig,omitzero"`
	Rules         []Rule   `json:"rules,omitempty"`
	NamespaceOnly Selector `json:"namespaceSelector,omitzero"`
	// Narrowed: it has an objectSelector or matchConditions, and may not be asked about each
	// object.
	Narrowed bool `json:"narrowed,omitempty"`
	// Changed is when its configuration was last written.
	Changed time.Time `json:"changed,omitzero"`
}

// Policy is a ValidatingAdmissionPolicy, or a binding of one.
type Policy struct {
	Name    string `json:"name"`
	Binding bool   `json:"binding,omitempty"`
	// Of is the name of a binding's policy.
	Of string `json:"of,omitempty"`
	// Rules are the policy's match constraints, NamespaceOnly is their namespaceSelector.
	Rules         []Rule   `json:"rules,omitempty"`
	NamespaceOnly Selector `json:"namespaceSelector,omitzero"`
	// Depends: it asks about rights, or has parameters, and these may have changed.
	Depends bool `json:"depends,omitempty"`
	// Changed is when it was last written.
	Changed time.Time `json:"changed,omitzero"`
}

// Rule selects requests, with the API's names of its fields.
type Rule struct {
	Operations []string `json:"operations"`
	Groups     []string `json:"apiGroups"`
	Resources  []string `json:"resources"`
}

// Selector is a label selector, with the API's names of its fields.
type Selector struct {
	Labels      map[string]string `json:"matchLabels,omitempty"`
	Expressions []Expression      `json:"matchExpressions,omitempty"`
}

// Expression is a requirement of a label selector.
type Expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Backend says whether a Service exists and has ready endpoints.
type Backend struct {
	Service
	Exists bool `json:"exists,omitempty"`
	Ready  int  `json:"ready,omitempty"` // ready endpoints
	// Coming is how many endpoints are not ready yet, of pods that are not ending.
	Coming int `json:"coming,omitempty"`
	// Changed is when its endpoints were last written.
	Changed time.Time `json:"changed,omitzero"`
	Request string    `json:"request"`
	Failed  *Failure  `json:"failed,omitempty"` // if set, Exists and Ready are unknown
}

// Node is a node's state.
type Node struct {
	Name  string    `json:"name"`
	Ready string    `json:"ready,omitempty"` // the status of the condition Ready
	Since time.Time `json:"since,omitzero"`
}

// Review is the answer to a SubjectAccessReview.
type Review struct {
	Refusal
	Allowed bool     `json:"allowed,omitempty"`
	Request string   `json:"request"`
	Failed  *Failure `json:"failed,omitempty"`
}

// selects reports whether a rule selects an operation on whole objects, DELETE or UPDATE. The part
// of a rule behind the slash selects subresources, and "*" there also none: "pods/*" has pods.
func selects(rules []Rule, operation string, t *Type) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool {
		return includes(r.Operations, operation, "*") && includes(r.Groups, t.Group, "*") &&
			slices.ContainsFunc(r.Resources, func(pattern string) bool {
				of, sub, _ := strings.Cut(pattern, "/")
				return (of == t.Resource || of == "*") && (sub == "" || sub == "*")
			})
	})
}

// Empty reports whether the selector matches all.
func (s Selector) Empty() bool { return len(s.Labels) == 0 && len(s.Expressions) == 0 }

// matches reports whether labels satisfy the selector. An empty selector matches all.
func (s Selector) matches(labels map[string]string) bool {
	for key, value := range s.Labels {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	for _, e := range s.Expressions {
		value, ok := labels[e.Key]
		in := ok && includes(e.Values, value)
		if e.Operator == "In" && !in || e.Operator == "NotIn" && in || e.Operator == "Exists" && !ok ||
			e.Operator == "DoesNotExist" && ok {
			return false
		}
	}
	return true
}

// PodKind is the kind of a pod among the workloads.
const PodKind = "pod"

// Workload is a Deployment, StatefulSet or DaemonSet, or a pod that runs or is going to, and may
// belong to none of these.
type Workload struct {
	Kind      string `json:"kind"` // deployment, statefulset, daemonset or pod
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Replicas  int    `json:"replicas"` // spec.replicas
	Ready     int    `json:"ready"`
	// Since is when a Deployment without a ready pod came into this state, when one without
	// replicas was last written, or when a container of a pod last started or ended; else its
	// creation.
	Since          time.Time `json:"since,omitzero"`
	ServiceAccount string    `json:"serviceAccount,omitempty"`
	// Words are the names of its containers and images and the words of its command lines, without
	// registry and path.
	Words []string `json:"words,omitempty"`
}

func (w Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// Grant is the right to update or patch objects of a group, by a rule that names it.
type Grant struct {
	// Service is the namespace and the name of the service account; empty for another subject.
	Service Service `json:"serviceAccount,omitzero"`
	Group   string  `json:"group"`
	// Resources are the rule's resources.
	Resources []string `json:"resources"`
}

// Stamp has what only the whole of a held object shows.
type Stamp struct {
	Type    string `json:"type"`
	Object  string `json:"object"`
	Request string `json:"request"`
	// Writers are the writers of the finalizer according to managedFields.
	Finalizer string   `json:"finalizer"`
	Writers   []Writer `json:"writers,omitempty"`
	// Balancer: status.loadBalancer is set.
	Balancer bool `json:"balancer,omitempty"`
}
