// Package admission asks the cluster's own rules whether a valid write may be stored: first every
// ValidatingAdmissionPolicy that a binding puts into force, then every validating webhook. The
// first refusal counts. Which requests a rule is about, what a webhook is sent and what a client
// reads are those of kube-apiserver 1.36.
//
// Mutating webhooks and mutating policies are not called, and expressions have no authorizer. The
// objects of the group admissionregistration.k8s.io are exempt, so that a broken rule can be
// removed.
package admission

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/selector"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

const group = "admissionregistration.k8s.io"

// Controller validates writes. All fields are required. It is safe for concurrent use.
type Controller struct {
	Store   *store.Store
	Catalog *resources.Catalog
	// Backend resolves the Service of a webhook.
	Backend func(namespace, name string, port int64) registry.Backend
	// Transport returns the transport for calls of a webhook. serverName is the name that its
	// certificate must be valid for, "" for that in the URL. address is where to connect to, "" for
	// the address in the URL. authorities are PEM certificates, nil for those of the system.
	Transport func(serverName, address string, authorities []byte) http.RoundTripper

	programs programs
}

// Validate returns the refusal of a write, or nil. It is an *api.StatusError.
func (c *Controller) Validate(ctx context.Context, a registry.Attributes) error {
	if a.Definition.Group == group {
		return nil
	}
	q := &request{Attributes: a, controller: c}
	if err := c.askPolicies(q); err != nil {
		return err
	}
	return c.askWebhooks(ctx, q)
}

// stored returns the objects of a type of this group, by name.
func (c *Controller) stored(plural string) []*store.Object {
	d, ok := c.Catalog.Lookup(api.GroupVersionResource{Group: group, Version: "v1", Resource: plural})
	if !ok {
		return nil
	}
	view, err := c.Store.Collection(d.Prefix).View(0)
	if err != nil {
		return nil
	}
	var all []*store.Object
	view.Ascend("", store.Key{}, func(o *store.Object) bool {
		all = append(all, o)
		return true
	})
	return all
}

// request is a write, and what rules look at.
type request struct {
	registry.Attributes
	controller *Controller

	namespace *api.Unstructured // cached by itsNamespace
}

// name returns the name in the request, which that for a collection does not have.
func (q *request) name() string {
	if q.Collection {
		return ""
	}
	return q.Name
}

// operation returns the operation as rules name it.
func (q *request) operation() string {
	switch q.Verb {
	case "create":
		return "CREATE"
	case "delete":
		return "DELETE"
	}
	return "UPDATE"
}

// documents returns the object and the old object in a version; nil for the one that there is not.
func (q *request) documents(version string) (object, old map[string]any) {
	if q.Verb != "delete" {
		object = q.Document(q.Object, version).Object
	}
	if q.Old != nil {
		old = q.Document(q.Old, version).Object
	}
	return object, old
}

// itsNamespace returns the namespace of the object, or nil for a cluster-scoped one. A Namespace is
// in itself.
func (q *request) itsNamespace() *api.Unstructured {
	if q.namespace != nil {
		return q.namespace
	}
	switch {
	case q.isNamespace():
		q.namespace = q.Object
	case q.Definition.Namespaced:
		d, _ := q.controller.Catalog.Lookup(api.NamespacesResource)
		if stored, ok := q.controller.Store.Collection(d.Prefix).Get(store.Key{Name: q.Namespace}); ok {
			q.namespace = stored.Decode()
		}
	}
	return q.namespace
}

func (q *request) isNamespace() bool {
	return q.Definition.Group == "" && q.Definition.Plural == "namespaces"
}

// constraints are what a webhook, a policy or a binding says about the requests that it is for.
type constraints struct {
	rules, excluded                   []map[string]any
	namespaceSelector, objectSelector map[string]any
	exact                             bool // matchPolicy
}

// constraintsOf reads constraints; rules and excluded are the names of the lists.
func constraintsOf(document map[string]any, rules, excluded string) constraints {
	m := constraints{rules: items(document[rules]), excluded: items(document[excluded]), exact: document["matchPolicy"] == "Exact"}
	m.namespaceSelector, _ = document["namespaceSelector"].(map[string]any)
	m.objectSelector, _ = document["objectSelector"].(map[string]any)
	return m
}

// match reports whether the constraints are for a request, and in which version its objects are
// shown. Without rules they match every resource.
func (m constraints) match(q *request) (version string, matches bool, err error) {
	if len(m.rules) > 0 {
		if version, matches = m.version(q, m.rules); !matches {
			return "", false, nil
		}
	} else {
		version = q.Version
	}
	if _, excluded := m.version(q, m.excluded); excluded {
		return "", false, nil
	}
	namespaces, err := selector.ParseLabelSelector(m.namespaceSelector)
	if err != nil {
		return "", false, apierrors.InternalError(err)
	}
	if namespace := q.itsNamespace(); !namespaces.Empty() && namespace != nil && !namespaces.Matches(namespace.GetLabels()) {
		return "", false, nil
	}
	objects, err := selector.ParseLabelSelector(m.objectSelector)
	if err != nil {
		return "", false, apierrors.InternalError(err)
	}
	return version, objects.Empty() || objects.Matches(q.Object.GetLabels()) || q.Old != nil && objects.Matches(q.Old.GetLabels()), nil
}

// version returns the version in which a rule is for the resource. Unless the match is exact, a
// rule for another version of the resource will do.
func (m constraints) version(q *request, rules []map[string]any) (string, bool) {
	versions := []string{q.Version}
	if !m.exact {
		versions = append(versions, q.Definition.Versions...)
	}
	for _, version := range versions {
		if slices.ContainsFunc(rules, func(rule map[string]any) bool { return ruleMatches(rule, q, version) }) {
			return version, true
		}
	}
	return "", false
}

func ruleMatches(rule map[string]any, q *request, version string) bool {
	names := texts(rule["resourceNames"])
	scope, _ := rule["scope"].(string)
	clusterScoped := !q.Definition.Namespaced
	return oneOf(rule["operations"], q.operation()) && oneOf(rule["apiGroups"], q.Definition.Group) && oneOf(rule["apiVersions"], version) &&
		slices.ContainsFunc(texts(rule["resources"]), func(pattern string) bool { return resourceMatches(pattern, q) }) &&
		(len(names) == 0 || slices.Contains(names, q.name())) &&
		(scope == "" || scope == "*" || (scope == "Cluster") == clusterScoped)
}

// resourceMatches compares a pattern such as "pods", "pods/*", "*/status" or "*/*".
func resourceMatches(pattern string, q *request) bool {
	resource, subresource, _ := strings.Cut(pattern, "/")
	return (resource == "*" || resource == q.Definition.Plural) && (subresource == "*" || subresource == q.Subresource)
}

func oneOf(list any, value string) bool {
	wanted := texts(list)
	return slices.Contains(wanted, "*") || slices.Contains(wanted, value)
}

func texts(list any) []string {
	values, _ := list.([]any)
	var found []string
	for _, value := range values {
		if text, ok := value.(string); ok {
			found = append(found, text)
		}
	}
	return found
}

func items(list any) []map[string]any {
	values, _ := list.([]any)
	var found []map[string]any
	for _, value := range values {
		if item, ok := value.(map[string]any); ok {
			found = append(found, item)
		}
	}
	return found
}

// fault describes the write for the texts of refusals.
func (q *request) fault() faults.Request {
	return faults.Request{Group: q.Definition.Group, Resource: q.Definition.Plural, Name: q.Name, Collection: q.Collection}
}
