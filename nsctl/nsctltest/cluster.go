package nsctltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
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

// Status returns a failure as the server sends it.
func Status(code int, reason api.StatusReason, message string) *api.Status {
	return &api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: code, Reason: reason, Message: message}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone does not want it
}

// ServeHTTP serves discovery, namespaces and content.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests = append(c.requests, r.Method+" "+r.URL.Path)
	intercept := c.intercept
	c.mu.Unlock()
	if intercept != nil {
		if refusal := intercept(r); refusal != nil {
			answer(w, refusal.Code, refusal)
			return
		}
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/readyz":
		c.serveReadyz(w)
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		answer(w, 200, c.discover(r.URL.Path == "/api"))
	case path[0] == "api" && len(path) == 3 && r.URL.Query().Get("watch") != "":
		c.watchNamespaces(w, r)
	case path[0] == "api" && len(path) == 3 && path[2] == "namespaces":
		c.listNamespaces(w)
	case path[0] == "api" && len(path) == 3:
		c.listEverywhere(w, path[2]+".")
	case path[0] == "apis" && len(path) == 4:
		c.listEverywhere(w, path[3]+"."+path[1])
	case path[0] == "api" && path[2] == "namespaces" && len(path) == 4:
		c.serveNamespace(w, r, path[3], "")
	case path[0] == "api" && path[2] == "namespaces" && (path[len(path)-1] == "status" || path[len(path)-1] == "finalize") && len(path) == 5:
		c.serveNamespace(w, r, path[3], path[4])
	case path[0] == "api":
		c.serveContent(w, r, "", path[2:])
	default:
		c.serveContent(w, r, path[1], path[3:])
	}
}

func (c *Cluster) serveReadyz(w http.ResponseWriter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Starting {
		http.Error(w, "[-]poststarthook/crd-informer-synced failed: reason withheld\nreadyz check failed", http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, "ok")
}

func (c *Cluster) discover(core bool) api.APIGroupDiscoveryList {
	c.mu.Lock()
	defer c.mu.Unlock()
	groups := map[string][]string{}
	for groupVersion := range c.Types {
		gv, _ := api.ParseGroupVersion(groupVersion)
		if c.Starting && strings.Contains(gv.Group, ".example") {
			continue
		}
		if (gv.Group == "") == core {
			groups[gv.Group] = append(groups[gv.Group], groupVersion)
		}
	}
	list := api.APIGroupDiscoveryList{TypeMeta: api.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		item := api.APIGroupDiscovery{ObjectMeta: api.ObjectMeta{Name: group}}
		for _, groupVersion := range groups[group] {
			gv, _ := api.ParseGroupVersion(groupVersion)
			version := api.APIVersionDiscovery{Version: gv.Version, Freshness: api.FreshnessCurrent}
			if slices.Contains(c.Stale, groupVersion) {
				version.Freshness = api.FreshnessStale
			} else {
				for _, resource := range c.Types[groupVersion] {
					verbs := c.Verbs[resource+"."+group]
					if verbs == nil {
						verbs = allVerbs
					}
					version.Resources = append(version.Resources, api.APIResourceDiscovery{
						Resource: resource, Scope: api.ScopeNamespaced, SingularResource: resource, Verbs: verbs,
						ResponseKind: &api.DiscoveryKind{Group: gv.Group, Version: gv.Version, Kind: resource},
					})
				}
			}
			item.Versions = append(item.Versions, version)
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func (c *Cluster) listNamespaces(w http.ResponseWriter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := api.List[*api.Namespace]{TypeMeta: api.TypeMeta{Kind: "NamespaceList", APIVersion: "v1"}}
	list.ResourceVersion = strconv.Itoa(c.version)
	for _, name := range slices.Sorted(maps.Keys(c.namespaces)) {
		list.Items = append(list.Items, c.namespaces[name])
	}
	answer(w, 200, list)
}

// listEverywhere lists one type in all namespaces. Its pages have two objects.
func (c *Cluster) listEverywhere(w http.ResponseWriter, resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := api.List[*item]{TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
	list.ResourceVersion = strconv.Itoa(c.version)
	for _, namespace := range slices.Sorted(maps.Keys(c.content[resource])) {
		for _, name := range slices.Sorted(maps.Keys(c.content[resource][namespace])) {
			list.Items = append(list.Items, c.content[resource][namespace][name])
		}
	}
	if len(list.Items) > 2 {
		list.Items, list.Continue = list.Items[:2], "next"
	}
	answer(w, 200, list)
}

// watchNamespaces streams changes after the wanted version. Streaming lists are refused, so that clients list.
func (c *Cluster) watchNamespaces(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") != "" {
		answer(w, 422, Status(422, api.ReasonInvalid, "sendInitialEvents is forbidden"))
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	w.(http.Flusher).Flush()
	for {
		c.mu.Lock()
		changed, changes := c.changed, slices.Clone(c.changes)
		c.mu.Unlock()
		for _, change := range changes {
			if change.version > from {
				from = change.version
				event := map[string]any{"type": change.eventType, "object": change.namespace}
				if json.NewEncoder(w).Encode(event) != nil {
					return
				}
			}
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func (c *Cluster) serveNamespace(w http.ResponseWriter, r *http.Request, name, subresource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	current, exists := c.namespaces[name]
	if !exists {
		answer(w, 404, Status(404, api.ReasonNotFound, fmt.Sprintf("namespaces %q not found", name)))
		return
	}
	switch r.Method {
	case http.MethodGet:
		answer(w, 200, current)
	case http.MethodPut:
		var sent api.Namespace
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			answer(w, 400, Status(400, api.ReasonBadRequest, err.Error()))
			return
		}
		if sent.ResourceVersion != current.ResourceVersion || sent.UID != current.UID {
			answer(w, 409, Status(409, api.ReasonConflict, "the object has been modified"))
			return
		}
		updated := *current
		if subresource == "status" {
			updated.Status = sent.Status
		} else {
			updated.Spec.Finalizers = sent.Spec.Finalizers
		}
		gone := len(updated.Spec.Finalizers) == 0 && len(updated.Finalizers) == 0 && updated.DeletionTimestamp != nil
		if gone {
			c.storeLocked(&updated, api.WatchDeleted)
		} else {
			c.storeLocked(&updated, api.WatchModified)
		}
		answer(w, 200, &updated)
	case http.MethodDelete:
		var options struct {
			Preconditions *api.Preconditions `json:"preconditions"`
		}
		_ = json.NewDecoder(r.Body).Decode(&options) // an empty body has no preconditions
		if options.Preconditions != nil && options.Preconditions.UID != nil && *options.Preconditions.UID != current.UID {
			answer(w, 409, Status(409, api.ReasonConflict, "the UID in the precondition does not match"))
			return
		}
		gone := *current
		c.storeLocked(&gone, api.WatchDeleted)
		answer(w, 200, &gone)
	}
}

// serveContent handles namespaces/NAMESPACE/RESOURCE[/NAME].
func (c *Cluster) serveContent(w http.ResponseWriter, r *http.Request, group string, path []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	namespace, resource := path[1], path[2]+"."+group
	if !c.servesLocked(group, path[2]) {
		answer(w, 404, Status(404, api.ReasonNotFound, "the server could not find the requested resource"))
		return
	}
	c.reapLocked(resource, namespace)
	var found []*item
	for _, name := range slices.Sorted(maps.Keys(c.content[resource][namespace])) {
		if len(path) == 3 || path[3] == name {
			found = append(found, c.content[resource][namespace][name])
		}
	}
	verbs := c.Verbs[resource]
	switch {
	case r.Method == http.MethodDelete && len(path) == 3 && verbs != nil && !slices.Contains(verbs, "deletecollection"):
		answer(w, 405, Status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource"))
		return
	case r.Method == http.MethodDelete && len(path) == 4 && len(found) == 0:
		answer(w, 404, Status(404, api.ReasonNotFound, "not found"))
		return
	case r.Method == http.MethodDelete:
		for _, object := range found {
			if object.Metadata.DeletionTimestamp == nil {
				deleted := api.NewTime(time.Now())
				object.Metadata.DeletionTimestamp = &deleted
			}
		}
		if body, ok := c.Answers[resource]; ok && len(path) == 3 {
			c.reapLocked(resource, namespace)
			fmt.Fprint(w, body)
			return
		}
		if len(path) == 4 || slices.Contains(c.BareStatus, resource) {
			c.reapLocked(resource, namespace)
			answer(w, 200, api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success"})
			return
		}
	}
	kind := api.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}
	if !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		kind = api.TypeMeta{Kind: "List", APIVersion: "v1"}
	}
	answer(w, 200, api.List[*item]{TypeMeta: kind, ListMeta: api.ListMeta{ResourceVersion: "1"}, Items: found})
	c.reapLocked(resource, namespace)
}

func (c *Cluster) servesLocked(group, resource string) bool {
	for groupVersion, resources := range c.Types {
		gv, _ := api.ParseGroupVersion(groupVersion)
		if gv.Group == group && slices.Contains(resources, resource) {
			return true
		}
	}
	return false
}
