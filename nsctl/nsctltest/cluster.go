package nsctltest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// Cluster is the server's half of a namespace deletion, small enough to read: namespaces with finalizers, content
// of any type, aggregated discovery, and a hook that can refuse any request.
type Cluster struct {
	// types are the namespaced resources, by group version. Set before the first request, or with define.
	Types map[string][]string
	// verbs are those of a type (by "resource.group"), if not all.
	Verbs map[string][]string
	// stale are group versions whose server does not answer.
	Stale []string
	// bareStatus are the types whose server answers a collection delete with nothing but a Status.
	BareStatus []string
	// answers are sent, with code 200, to the collection delete of a type, in place of the list.
	Answers map[string]string
	// starting makes the server say that it is not ready, and list built-in groups only.
	Starting bool

	mu sync.Mutex
	// intercept is asked before each request is handled; an answer that is not nil is sent in place of it.
	intercept  func(r *http.Request) *api.Status
	namespaces map[string]*api.Namespace
	// content is by "resource.group", then namespace, then name.
	content  map[string]map[string]map[string]*item
	requests []string
	version  int
	changed  chan struct{} // closed and replaced with each change of a namespace
	changes  []change
}

// item is an object of any type. A pod has a grace period and goes when it is over.
type item struct {
	Metadata api.ObjectMeta `json:"metadata"`
	Spec     struct {
		Grace *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase,omitempty"`
	} `json:"status"`
}

type change struct {
	version   int
	eventType api.WatchEventType
	namespace *api.Namespace
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// defaultTypes are those that a kube-apiserver of version 1.36 serves: 31 that can be deleted.
func defaultTypes() map[string][]string {
	return map[string][]string{
		"v1": {"bindings", "configmaps", "endpoints", "events", "limitranges", "persistentvolumeclaims", "pods",
			"podtemplates", "replicationcontrollers", "resourcequotas", "secrets", "serviceaccounts", "services"},
		"apps/v1":                      {"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"},
		"authorization.k8s.io/v1":      {"localsubjectaccessreviews"},
		"autoscaling/v2":               {"horizontalpodautoscalers"},
		"batch/v1":                     {"cronjobs", "jobs"},
		"coordination.k8s.io/v1":       {"leases"},
		"discovery.k8s.io/v1":          {"endpointslices"},
		"events.k8s.io/v1":             {"events"},
		"networking.k8s.io/v1":         {"ingresses", "networkpolicies"},
		"policy/v1":                    {"poddisruptionbudgets"},
		"rbac.authorization.k8s.io/v1": {"rolebindings", "roles"},
		"resource.k8s.io/v1":           {"resourceclaims", "resourceclaimtemplates"},
		"storage.k8s.io/v1":            {"csistoragecapacities"},
	}
}

// NewCluster returns a cluster with the types of a kube-apiserver and no namespaces.
func NewCluster() *Cluster {
	return &Cluster{
		Types: defaultTypes(),
		Verbs: map[string][]string{
			"bindings.": {"create"}, "localsubjectaccessreviews.authorization.k8s.io": {"create"},
		},
		namespaces: map[string]*api.Namespace{},
		content:    map[string]map[string]map[string]*item{},
		changed:    make(chan struct{}),
	}
}

// AddNamespace creates a namespace; terminating ones have been deleted just now.
func (c *Cluster) AddNamespace(name string, terminating bool, finalizers ...string) *api.Namespace {
	c.mu.Lock()
	defer c.mu.Unlock()
	ns := &api.Namespace{TypeMeta: api.TypeMeta{Kind: "Namespace", APIVersion: "v1"}}
	ns.Name, ns.UID = name, fmt.Sprintf("uid-%s-%d", name, c.version)
	ns.CreationTimestamp = api.NewTime(time.Now())
	ns.Spec.Finalizers = finalizers
	ns.Status.Phase = api.NamespaceActive
	if terminating {
		deleted := api.NewTime(time.Now())
		ns.DeletionTimestamp = &deleted
		ns.Status.Phase = api.NamespaceTerminating
	}
	c.storeLocked(ns, api.WatchAdded)
	return ns
}

// Terminate is what a user's DELETE does.
func (c *Cluster) Terminate(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ns := *c.namespaces[name]
	deleted := api.NewTime(time.Now())
	ns.DeletionTimestamp = &deleted
	ns.Status.Phase = api.NamespaceTerminating
	c.storeLocked(&ns, api.WatchModified)
}

// Update changes a namespace as another client would.
func (c *Cluster) Update(name string, change func(*api.Namespace)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ns := *c.namespaces[name]
	change(&ns)
	c.storeLocked(&ns, api.WatchModified)
}

func (c *Cluster) storeLocked(ns *api.Namespace, eventType api.WatchEventType) {
	c.version++
	ns.ResourceVersion = strconv.Itoa(c.version)
	if eventType == api.WatchDeleted {
		delete(c.namespaces, ns.Name)
	} else {
		c.namespaces[ns.Name] = ns
	}
	c.changes = append(c.changes, change{c.version, eventType, ns})
	close(c.changed)
	c.changed = make(chan struct{})
}

// Define adds a type while requests are being served.
func (c *Cluster) Define(groupVersion, resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Types[groupVersion] = append(c.Types[groupVersion], resource)
}

// Put adds content.
func (c *Cluster) Put(resource, namespace, name string, adjust ...func(*item)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := &item{Metadata: api.ObjectMeta{Name: name, Namespace: namespace, UID: resource + name}}
	for _, f := range adjust {
		f(object)
	}
	if c.content[resource] == nil {
		c.content[resource] = map[string]map[string]*item{}
	}
	if c.content[resource][namespace] == nil {
		c.content[resource][namespace] = map[string]*item{}
	}
	c.content[resource][namespace][name] = object
}

// WithFinalizers makes an object that its finalizers hold.
func WithFinalizers(finalizers ...string) func(*item) {
	return func(i *item) { i.Metadata.Finalizers = finalizers }
}

// RunningPod makes a pod that runs and takes that long to end.
func RunningPod(graceSeconds int64) func(*item) {
	return func(i *item) {
		i.Spec.Grace = &graceSeconds
		i.Status.Phase = "Running"
	}
}

// Release takes the finalizers off an object, and the object away if it was being deleted.
func (c *Cluster) Release(resource, namespace, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := c.content[resource][namespace][name]
	object.Metadata.Finalizers = nil
	c.reapLocked(resource, namespace)
}

// reapLocked takes away what was deleted and nothing holds any more.
func (c *Cluster) reapLocked(resource, namespace string) {
	for name, object := range c.content[resource][namespace] {
		deletedAt := object.Metadata.DeletionTimestamp
		if deletedAt == nil || len(object.Metadata.Finalizers) > 0 {
			continue
		}
		if grace := object.Spec.Grace; grace != nil && time.Since(deletedAt.Time) < time.Duration(*grace)*time.Second {
			continue
		}
		delete(c.content[resource][namespace], name)
	}
}

// Left returns what is in the namespace, as "resource.group/name".
func (c *Cluster) Left(namespace string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for resource, namespaces := range c.content {
		c.reapLocked(resource, namespace)
		for name := range namespaces[namespace] {
			names = append(names, resource+"/"+name)
		}
	}
	slices.Sort(names)
	return names
}

// Namespace returns a namespace as it is now, nil if it does not exist.
func (c *Cluster) Namespace(name string) *api.Namespace {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.namespaces[name]
}

// Existing returns a namespace as it is now, and ends the test if it is gone.
func (c *Cluster) Existing(t *testing.T, name string) *api.Namespace {
	t.Helper()
	namespace := c.Namespace(name)
	require.NotNil(t, namespace, "namespace %s is gone, and must not be", name)
	return namespace
}

// Log returns the requests so far, "VERB path", and forgets them.
func (c *Cluster) Log() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.requests
	c.requests = nil
	return log
}

// Refuse has intercept asked before each request; an answer that is not nil is sent in place of the server's.
func (c *Cluster) Refuse(intercept func(r *http.Request) *api.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.intercept = intercept
}
