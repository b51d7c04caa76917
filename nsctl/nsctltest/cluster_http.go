package nsctltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/restclient/api"
)

// Status returns a failure as the server sends it.
func Status(code int, reason api.StatusReason, message string) *api.Status {
	return &api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: code,
		Reason: reason, Message: message}
}

// answer sends a body; a *[api.Status] has the code.
func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if refusal, refused := body.(*api.Status); refused {
		w.WriteHeader(refusal.Code)
	}
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has gone
}

// ServeHTTP serves discovery, namespaces and content.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests = append(c.requests, r.Method+" "+r.URL.Path)
	intercept := c.intercept
	c.mu.Unlock()
	if intercept != nil {
		if refusal := intercept(r); refusal != nil {
			answer(w, refusal)
			return
		}
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/readyz":
		c.serveReadyz(w)
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		answer(w, c.discover(r.URL.Path == "/api"))
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
	case path[0] == "api" && path[2] == "namespaces" &&
		(path[len(path)-1] == "status" || path[len(path)-1] == "finalize") && len(path) == 5:
		c.serveNamespace(w, r, path[3], path[4])
	case path[0] == "api":
		c.serveContent(w, r, path[1], path[2:])
	default:
		c.serveContent(w, r, path[1]+"/"+path[2], path[3:])
	}
}

func (c *Cluster) serveReadyz(w http.ResponseWriter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Starting {
		http.Error(w, "[-]poststarthook/crd-informer-synced failed: reason withheld\nreadyz check failed",
			http.StatusInternalServerError)
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
	list := api.APIGroupDiscoveryList{TypeMeta: api.TypeMeta{Kind: "APIGroupDiscoveryList",
		APIVersion: "apidiscovery.k8s.io/v2"}}
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
	answer(w, list)
}

// listEverywhere lists one type in all namespaces, in pages of two objects.
func (c *Cluster) listEverywhere(w http.ResponseWriter, resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := api.List[*item]{TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
	list.ResourceVersion = strconv.Itoa(c.version)
	for _, namespace := range slices.Sorted(maps.Keys(c.content[resource])) {
		c.reapLocked(resource, namespace)
		for _, name := range slices.Sorted(maps.Keys(c.content[resource][namespace])) {
			list.Items = append(list.Items, c.content[resource][namespace][name])
		}
	}
	if len(list.Items) > 2 {
		list.Items, list.Continue = list.Items[:2], "next"
	}
	answer(w, list)
}

// watchNamespaces streams the changes after the requested version. Streaming lists are refused, so
// that clients list.
func (c *Cluster) watchNamespaces(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") != "" {
		answer(w, Status(422, api.ReasonInvalid, "sendInitialEvents is forbidden"))
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	w.(http.Flusher).Flush()
	for sent := 0; ; {
		c.mu.Lock()
		changed, changes := c.changed, c.changes[sent:]
		sent = len(c.changes)
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
		answer(w, Status(404, api.ReasonNotFound, fmt.Sprintf("namespaces %q not found", name)))
		return
	}
	switch r.Method {
	case http.MethodGet:
		answer(w, current)
	case http.MethodPut:
		var sent api.Namespace
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			answer(w, Status(400, api.ReasonBadRequest, err.Error()))
			return
		}
		if sent.ResourceVersion != current.ResourceVersion || sent.UID != current.UID {
			answer(w, Status(409, api.ReasonConflict, "the object has been modified"))
			return
		}
		updated := *current
		if subresource == "status" {
			updated.Status = sent.Status
		} else {
			updated.Spec.Finalizers = sent.Spec.Finalizers
		}
		c.writeLocked(&updated)
		answer(w, &updated)
	case http.MethodDelete:
		if !precondition(r, current.UID) {
			answer(w, Status(409, api.ReasonConflict, "the UID in the precondition does not match"))
			return
		}
		gone := *current
		c.storeLocked(&gone, api.WatchDeleted)
		answer(w, &gone)
	}
}

// precondition reports whether a DELETE may delete the object with this UID.
func precondition(r *http.Request, uid string) bool {
	var options struct {
		Preconditions *api.Preconditions `json:"preconditions"`
	}
	_ = json.NewDecoder(r.Body).Decode(&options) // an empty body has no preconditions
	return options.Preconditions == nil || options.Preconditions.UID == nil || *options.Preconditions.UID == uid
}

// serveContent handles namespaces/NAMESPACE/RESOURCE[/NAME].
func (c *Cluster) serveContent(w http.ResponseWriter, r *http.Request, groupVersion string, path []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gv, _ := api.ParseGroupVersion(groupVersion)
	namespace, resource := path[1], path[2]+"."+gv.Group
	if !slices.Contains(c.Types[groupVersion], path[2]) {
		answer(w, Status(404, api.ReasonNotFound, "the server could not find the requested resource"))
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
		answer(w, Status(405, api.ReasonMethodNotAllowed,
			"the server does not allow this method on the requested resource"))
		return
	case r.Method == http.MethodDelete && len(path) == 4 && len(found) == 0:
		answer(w, Status(404, api.ReasonNotFound, "not found"))
		return
	case r.Method == http.MethodDelete && len(path) == 4 && !precondition(r, found[0].Metadata.UID):
		answer(w, Status(409, api.ReasonConflict, "the UID in the precondition does not match"))
		return
	case r.Method == http.MethodDelete:
		for i, object := range found {
			asFound := *object // the answer shows the objects before their deletion
			found[i] = &asFound
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
		if len(path) == 4 {
			c.reapLocked(resource, namespace)
			answer(w, api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success"})
			return
		}
	}
	kind := api.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}
	if !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		kind = api.TypeMeta{Kind: "List", APIVersion: "v1"}
	}
	answer(w, api.List[*item]{TypeMeta: kind, ListMeta: api.ListMeta{ResourceVersion: "1"}, Items: found})
	c.reapLocked(resource, namespace)
}
