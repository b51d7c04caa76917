package nsctltest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// Cluster is the server's half of a namespace deletion: namespaces with finalizers, content of any
// type, aggregated discovery, and a hook that can refuse any request.
type Cluster struct {
	// types are the namespaced resources by group version. Set it before the first request, or call
	// Define.
	Types map[string][]string
	// verbs are the verbs of a type, by "resource.group", if it lacks some.
	Verbs map[string][]string
	// stale are the group versions whose server does not answer.
	Stale []string
	// answers replace the list that answers the collection delete of a type. They have code 200.
	Answers map[string]string
	// starting makes the server report that it is not ready, and list built-in groups only.
	Starting bool

	mu sync.Mutex
	// intercept is called before each request is handled; a non-nil answer is sent instead.
	intercept  func(r *http.Request) *api.Status
	namespaces map[string]*api.Namespace
	// content holds objects by "resource.group", namespace and name.
	content  map[string]map[string]map[string]*item
	requests []string
	version  int
	objects  int           // how many objects were ever created
	changed  chan struct{} // closed and replaced at each change of a namespace
	changes  []change
}

// item is an object of any type. A pod has a grace period and disappears when it has passed.
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

// defaultTypes are the 31 deletable types of kube-apiserver 1.36.
func defaultTypes() map[string][]string {
	return map[string][]string{
		"v1": {"bindings", "configmaps", "endpoints", "events", "limitranges", "persistentvolumeclaims", "pods",
			"podtemplates", "replicationcontrollers", "resourcequotas", "secrets", "serviceaccounts", "services"},
		"apps/v1": {"controllerrevisions", "daemonsets", "deployments", "replicasets",
			"statefulsets"},
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

// NewCluster returns a new cluster with the types of a kube-apiserver and no namespaces.
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

// AddNamespace creates a namespace; a terminating one has just been deleted.
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

// Terminate deletes the namespace as a user does.
func (c *Cluster) Terminate(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ns := *c.namespaces[name]
	deleted := api.NewTime(time.Now())
	ns.DeletionTimestamp = &deleted
	ns.Status.Phase = api.NamespaceTerminating
	c.storeLocked(&ns, api.WatchModified)
}

// Update changes a namespace as another client does.
func (c *Cluster) Update(name string, change func(*api.Namespace)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ns := *c.namespaces[name]
	change(&ns)
	c.writeLocked(&ns)
}

// writeLocked stores a changed namespace, or removes a deleted one without finalizers.
func (c *Cluster) writeLocked(ns *api.Namespace) {
	if len(ns.Spec.Finalizers) == 0 && len(ns.Finalizers) == 0 && ns.DeletionTimestamp != nil {
		c.storeLocked(ns, api.WatchDeleted)
	} else {
		c.storeLocked(ns, api.WatchModified)
	}
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

// Define adds a type, also while requests are being served.
func (c *Cluster) Define(groupVersion, resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Types[groupVersion] = append(c.Types[groupVersion], resource)
}

// Undefine removes the types of a group version, also while requests are being served.
func (c *Cluster) Undefine(groupVersion string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.Types, groupVersion)
}

// Put adds an object.
func (c *Cluster) Put(resource, namespace, name string, adjust ...func(*item)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects++
	uid := fmt.Sprint(resource, name, "-", c.objects)
	object := &item{Metadata: api.ObjectMeta{Name: name, Namespace: namespace, UID: uid}}
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

// WithFinalizers returns an object with these finalizers.
func WithFinalizers(finalizers ...string) func(*item) {
	return func(i *item) { i.Metadata.Finalizers = finalizers }
}

// RunningPod returns a running pod that takes this long to terminate.
func RunningPod(graceSeconds int64) func(*item) {
	return func(i *item) {
		i.Spec.Grace = &graceSeconds
		i.Status.Phase = "Running"
	}
}

// Release removes the finalizers of an object, and the object if it was being deleted.
func (c *Cluster) Release(resource, namespace, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := c.content[resource][namespace][name]
	object.Metadata.Finalizers = nil
	c.reapLocked(resource, namespace)
}

// reapLocked removes deleted objects that have no finalizers and whose grace period has passed.
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

// Left returns the content of the namespace as "resource.group/name".
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

// Namespace returns the current state of a namespace, or nil if it does not exist.
func (c *Cluster) Namespace(name string) *api.Namespace {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.namespaces[name]
}

// Existing returns the current state of a namespace, and ends the test if it does not exist.
func (c *Cluster) Existing(t *testing.T, name string) *api.Namespace {
	t.Helper()
	namespace := c.Namespace(name)
	require.NotNil(t, namespace, "want namespace %s to stay: something still holds it", name)
	return namespace
}

// AssertGone asserts that a namespace has gone, and its content with it.
func (c *Cluster) AssertGone(t *testing.T, name string) {
	t.Helper()
	assert.Empty(t, c.Left(name), "want no content left in namespace %s", name)
	if namespace := c.Namespace(name); namespace != nil {
		assert.Fail(t, fmt.Sprintf("want namespace %s to be gone, got one with the finalizers %q", name,
			namespace.Spec.Finalizers))
	}
}

// Log returns the requests since the last call, as "VERB path".
func (c *Cluster) Log() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.requests
	c.requests = nil
	return log
}

// Refuse sets intercept.
func (c *Cluster) Refuse(intercept func(r *http.Request) *api.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.intercept = intercept
}

// RefuseAll answers all requests with this method whose path has this end; an empty method or end
// stands for any.
func (c *Cluster) RefuseAll(method, end string, answer *api.Status) {
	c.Refuse(func(r *http.Request) *api.Status {
		if is(r, method, end) {
			return answer
		}
		return nil
	})
}

// is reports whether a request has this method, and a path with this end. Empty ones stand for any.
func is(r *http.Request, method, end string) bool {
	return (method == "" || r.Method == method) && strings.HasSuffix(r.URL.Path, end)
}

// Before lets something happen before each request with this method whose path has this end.
func (c *Cluster) Before(method, end string, happen func()) {
	c.Refuse(func(r *http.Request) *api.Status {
		if is(r, method, end) {
			happen()
		}
		return nil
	})
}

// Hang does not answer such requests until the client has closed the connection.
func (c *Cluster) Hang(method, end string) {
	c.Refuse(func(r *http.Request) *api.Status {
		if is(r, method, end) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client leaves
			<-r.Context().Done()
		}
		return nil
	})
}
