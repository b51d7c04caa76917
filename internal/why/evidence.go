package why

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/restclient/api"
)

// EvidenceVersion is the format of saved evidence.
const EvidenceVersion = "orrery/why-evidence.v4"

// Evidence is what the server answered about one namespace. It is plain data. Of the namespace's
// objects it has names, times, finalizers and owners. Of the cluster it may have the images and
// commands of workloads, nodes, the rules of webhooks and policies, subjects of RBAC, and the text
// of errors. It has no data of Secrets or ConfigMaps.
type Evidence struct {
	APIVersion string `json:"apiVersion"`
	// Name is the examined namespace, At the server's time of the first answer.
	Name string    `json:"name"`
	At   time.Time `json:"at"`

	// Namespace is nil if it does not exist or may not be read; Refused says which.
	Namespace *Namespace `json:"namespace,omitempty"`
	Refused   *Failure   `json:"refused,omitempty"`
	// Terminating are the names of the terminating namespaces, if the examined one does not exist.
	// Unlisted is why they could not be listed.
	Terminating []string `json:"terminating,omitempty"`
	Unlisted    *Failure `json:"unlisted,omitempty"`

	// Discovery has the types that the server serves, Types the namespace's content by type.
	Discovery Discovery `json:"discovery"`
	Types     []Type    `json:"types,omitempty"`
	// Pods are the namespace's pods, at most [MaxKept].
	Pods []Pod `json:"pods,omitempty"`

	// These are read in every case.
	APIServices Answer[APIService] `json:"apiServices,omitzero"`
	Definitions Answer[Definition] `json:"definitions,omitzero"`
	Managers    Answer[Manager]    `json:"managers,omitzero"`
	Leases      Answer[Lease]      `json:"leases,omitzero"`

	// These are read if the evidence so far gives a reason.
	Webhooks   Answer[Webhook]  `json:"webhooks,omitzero"`
	Policies   Answer[Policy]   `json:"policies,omitzero"`
	Backends   []Backend        `json:"backends,omitempty"`
	Nodes      Answer[Node]     `json:"nodes,omitzero"`
	Reviews    []Review         `json:"reviews,omitempty"`
	Workloads  Answer[Workload] `json:"workloads,omitzero"`
	Grants     Answer[Grant]    `json:"grants,omitzero"`
	Incomplete string           `json:"incomplete,omitempty"` // why the collection ended early

	// Second is the second sample; nil with one sample.
	Second *Sample `json:"second,omitempty"`

	// Requests is the number of requests, and Took their duration without the wait between the
	// samples.
	Requests int           `json:"requests"`
	Took     time.Duration `json:"took"`

	// Cluster has kubectl's flags for the cluster, see [ClusterFlags]. It is not saved.
	Cluster string `json:"-"`
}

// MaxKept limits the objects kept of one type. Objects that block are kept first.
const MaxKept = 100

// Failure is a failed request.
type Failure struct {
	Request string `json:"request"`
	// Code is the HTTP status; 0 if there was no answer.
	Code    int    `json:"code,omitempty"`
	Message string `json:"message"`
	// Right is the missing right if Code is 403: "list nodes".
	Right string `json:"right,omitempty"`
}

// Answer is the outcome of one list. The zero value means that it was not requested.
type Answer[T any] struct {
	Request string   `json:"request,omitempty"`
	Items   []T      `json:"items,omitempty"`
	Failed  *Failure `json:"failed,omitempty"`
}

// Known reports whether the list was read.
func (a Answer[T]) Known() bool { return a.Request != "" && a.Failed == nil }

// Namespace has the namespace's metadata, tokens and conditions.
type Namespace struct {
	UID             string                   `json:"uid"`
	ResourceVersion string                   `json:"resourceVersion"`
	Labels          map[string]string        `json:"labels,omitempty"`
	Deleted         time.Time                `json:"deleted,omitzero"` // zero: not terminating
	Finalizers      []string                 `json:"finalizers,omitempty"`
	SpecFinalizers  []string                 `json:"specFinalizers,omitempty"`
	Conditions      []api.NamespaceCondition `json:"conditions,omitempty"`
	// Changed is when it was last written, its status and its tokens apart.
	Changed time.Time `json:"changed,omitzero"`
	// Writers are the managers of the conditions, with their last times.
	Writers []Writer `json:"writers,omitempty"`
	Request string   `json:"request"`
}

// Writer is a program that wrote fields of an object.
type Writer struct {
	Manager string    `json:"manager"`
	At      time.Time `json:"at,omitzero"`
}

// Condition returns the message of a condition that is True, or "".
func (n *Namespace) Condition(t api.NamespaceConditionType) string {
	if n == nil {
		return ""
	}
	for _, condition := range n.Conditions {
		if condition.Type == t && condition.Status == api.ConditionTrue {
			return condition.Message
		}
	}
	return ""
}

// Discovery has the types that the server serves.
type Discovery struct {
	Request string `json:"request,omitempty"`
	// Failed has every group version that could not be discovered, with the reason.
	Failed map[string]string `json:"failed,omitempty"`
	// Refused says why discovery as a whole failed.
	Refused *Failure `json:"refused,omitempty"`
}

// Type has the namespace's content of one type.
type Type struct {
	Group    string   `json:"group,omitempty"`
	Version  string   `json:"version"`
	Resource string   `json:"resource"`
	Request  string   `json:"request,omitempty"` // empty: it cannot be listed
	Failed   *Failure `json:"failed,omitempty"`
	// Count is the number of objects. More is true if there were too many pages to count all.
	Count      int            `json:"count"`
	More       bool           `json:"more,omitempty"`
	Partial    bool           `json:"partial,omitempty"`    // of the second sample: only the first page was read
	Finalizers map[string]int `json:"finalizers,omitempty"` // finalizer -> number of objects that have it
	Objects    []Object       `json:"objects,omitempty"`
}

// Name is kubectl's name of the type: "deployments.apps". One that kube-apiserver itself would not
// accept is quoted, and no finding has a command for it: the server of another API chose it.
func (t Type) Name() string {
	name := t.GVR().TypeName()
	if !typeName().MatchString(name) {
		return strconv.Quote(name)
	}
	return name
}

// typeName is kubectl's name of a type: DNS labels.
var typeName = lazyPattern(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(/[a-z]+)?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// IsCustom reports whether the type is not one of Kubernetes itself.
func (t Type) IsCustom() bool { return !slices.Contains(builtInGroups, t.Group) }

// builtInGroups are the groups of kube-apiserver. Others that end in k8s.io belong to programs
// beside it, such as gateway.networking.k8s.io.
var builtInGroups = []string{
	"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps",
	"authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io",
	"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions", "flowcontrol.apiserver.k8s.io",
	"internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io",
	"resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// GVR is the type's full name.
func (t Type) GVR() api.GroupVersionResource {
	return api.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource}
}

// Object has the metadata of an object.
type Object struct {
	Name            string               `json:"name"`
	UID             string               `json:"uid"`
	ResourceVersion string               `json:"resourceVersion"`
	Created         time.Time            `json:"created"`
	Deleted         time.Time            `json:"deleted,omitzero"`
	Finalizers      []string             `json:"finalizers,omitempty"`
	Owners          []api.OwnerReference `json:"owners,omitempty"`
}

// Pod is a pod, with everything that its end depends on.
type Pod struct {
	Object
	Node   string   `json:"node,omitempty"`
	Claims []string `json:"claims,omitempty"`
	// Running are the containers that run, also those of init and ephemeral containers.
	Running []string `json:"running,omitempty"`
}

// Sample is the second sample: everything that may have changed.
type Sample struct {
	At time.Time `json:"at"`
	// Namespace is nil if the namespace is gone, also if there is a new one of that name.
	Namespace *Namespace `json:"namespace,omitempty"`
	// Discovery is nil if nothing was discovered again.
	Discovery *Discovery `json:"discovery,omitempty"`
	// Types has the first page of each type that had objects. Count is the server's count.
	Types []Type `json:"types,omitempty"`
}

// typeOf returns the type of that name.
func (e *Evidence) typeOf(group, resource string) *Type {
	return find(e.Types, func(t Type) bool { return t.Group == group && t.Resource == resource })
}

// everyType stands for all types if not even their names could be read.
const everyType = "everything"

// left returns the number of objects seen, and the types that may have more.
func (e *Evidence) left() (objects int, unread []string) {
	for _, t := range e.Types {
		objects += t.Count
	}
	return objects, slices.Sorted(maps.Keys(e.unread()))
}

// unread returns the types that may have objects that were not seen, with the reason of each, which
// is empty for a right that this user lacks.
func (e *Evidence) unread() map[string]string {
	reasons := map[string]string{}
	say := func(name string, failed *Failure) {
		if failed != nil && failed.Right == "" {
			reasons[name] = failed.Message
		} else if failed != nil {
			reasons[name] = ""
		}
	}
	for _, t := range e.Types {
		if t.More {
			reasons[t.Name()] = "it has too many objects"
		}
		say(t.Name(), t.Failed)
	}
	for groupVersion, reason := range e.Discovery.Failed {
		reasons[groupVersion] = strings.TrimSuffix(reason, ": "+groupVersion)
	}
	say(everyType, e.Discovery.Refused)
	return reasons
}

// now returns the time of the last sample.
func (e *Evidence) now() time.Time {
	if e.Second != nil {
		return e.Second.At
	}
	return e.At
}

// age returns how long the namespace has been terminating.
func (e *Evidence) age() time.Duration {
	if e.Namespace == nil || e.Namespace.Deleted.IsZero() {
		return 0
	}
	return max(0, e.now().Sub(e.Namespace.Deleted))
}

// condition returns the message of a condition that is True in the last sample.
func (e *Evidence) condition(t api.NamespaceConditionType) string {
	return e.Latest().Condition(t)
}

// typeOf returns a type as the sample has it, nil if it has not.
func (s *Sample) typeOf(t *Type) *Type {
	if s == nil {
		return nil
	}
	return find(s.Types, func(second Type) bool { return second.Group == t.Group && second.Resource == t.Resource })
}

// again returns the object of the second sample, nil if it is not there.
func (s *Sample) again(t *Type, name string) *Object {
	second := s.typeOf(t)
	if second == nil {
		return nil
	}
	return find(second.Objects, func(o Object) bool { return o.Name == name })
}

// onlyOnce is what every proof lacks without a second sample: the cause may be of a moment.
const onlyOnce = "only one sample was taken"

// seenOnce says why nothing is known of a change.
func (e *Evidence) seenOnce() string {
	if e.Second == nil {
		return onlyOnce
	}
	return "the second sample does not have all objects"
}

// missed reports whether objects of a type may be there that the sample does not have.
func (s *Sample) missed(t *Type) bool {
	second := s.typeOf(t)
	return second == nil || second.Failed != nil || second.Partial || second.Count > len(second.Objects)
}

// standstill reports whether an object is unchanged in the second sample. known is false with one
// sample, or if the second one did not reach the object.
func (e *Evidence) standstill(t *Type, o Object) (still, known bool) {
	if e.Second == nil {
		return false, false
	}
	if t == namespaceType {
		n := e.Second.Namespace
		return n != nil && n.UID == o.UID && n.Changed.Equal(e.Namespace.Changed) &&
			slices.Equal(n.Finalizers, o.Finalizers), true // the namespace controller writes its status
	}
	second := e.Second.again(t, o.Name)
	if second == nil && e.Second.missed(t) {
		return false, false
	}
	still = second != nil && second.UID == o.UID && second.ResourceVersion == o.ResourceVersion &&
		slices.Equal(second.Finalizers, o.Finalizers)
	return still, !still || o.ResourceVersion != "" // the server of another type may have no versions
}

// moved reports whether an object is known to have changed, or to have gone, by the second sample.
func (e *Evidence) moved(t *Type, o Object) bool {
	still, known := e.standstill(t, o)
	return known && !still
}

// backend returns the state of a Service, nil if it was not read.
func (e *Evidence) backend(s Service) *Backend {
	return find(e.Backends, func(b Backend) bool { return b.Service == s })
}

// find returns the first item that is wanted, nil without one.
func find[T any](items []T, wanted func(T) bool) *T {
	at := slices.IndexFunc(items, wanted)
	if at < 0 {
		return nil
	}
	return &items[at]
}

// includes reports whether a list has one of the words.
func includes(list []string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
}

// filter returns the items that are wanted, in a new slice.
func filter[T any](items []T, wanted func(T) bool) (all []T) {
	for _, item := range items {
		if wanted(item) {
			all = append(all, item)
		}
	}
	return all
}

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
	// Type is the type that it defines: "databases.example.com".
	Type string `json:"type"`
	// Converter is where its conversion webhook is, if the whole object was read.
	Converter ClientConfig `json:"converter,omitzero"`
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
