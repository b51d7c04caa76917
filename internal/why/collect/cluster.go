package collect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
)

// first is wave 0: it reads the namespace. It fails if the connection does.
func (c *collector) first(ctx context.Context) error {
	namespace, at, failed, err := c.namespace(ctx)
	if err != nil {
		return err
	}
	e := &c.evidence
	e.Namespace, e.At, e.Refused = namespace, at, failed
	if failed != nil && failed.Code == http.StatusNotFound && !c.many {
		var err error
		e.Terminating, err = c.inDeletionNow(ctx)
		if api.CodeOf(err) != http.StatusForbidden {
			return err // any server may answer 404
		}
		e.Unlisted = failure("", "list namespaces", err)
	}
	return nil
}

// namespace reads the namespace. A refusal other than 401 is evidence. Any other answer that is not
// a namespace is an error.
func (c *collector) namespace(ctx context.Context) (*why.Namespace, time.Time, *why.Failure, error) {
	path := "/api/v1/namespaces/" + c.evidence.Name
	var answer restclient.Response
	err := c.attempt(ctx, func(ctx context.Context) error {
		return c.client.Do(ctx, restclient.Request{Path: path}, &answer)
	})
	refused, _ := errors.AsType[*api.StatusError](err)
	switch {
	case refused == nil:
	case refused.Status.Code == http.StatusNotFound && c.evidence.Namespace != nil && !isAbout(refused, c.evidence.Name):
		// it was there, and a proxy may have answered
	case refused.Status.Code == http.StatusForbidden, refused.Status.Code == http.StatusNotFound:
		return nil, time.Now().UTC(), failure("GET "+path, "get namespaces", err), nil
	}
	if err != nil {
		return nil, time.Time{}, nil, err
	}
	var namespace api.Namespace
	if err := json.Unmarshal(answer.Body, &namespace); err != nil || namespace.Name != c.evidence.Name {
		return nil, time.Time{}, nil, &restclient.DecodeError{Verb: http.MethodGet, URL: path, Err: errNoNamespace}
	}
	at, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		at = time.Now() // a proxy dropped the header
	}
	return headOf(&namespace, "GET "+path), at.UTC(), nil, nil
}

// isAbout reports whether a refusal is the API server's, about a namespace.
func isAbout(refused *api.StatusError, namespace string) bool {
	about := refused.Status.Details
	return about != nil && about.Kind == "namespaces" && about.Name == namespace && !refused.HasCause(api.CauseUnexpectedServerResponse)
}

func headOf(n *api.Namespace, request string) *why.Namespace {
	head := &why.Namespace{
		UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: n.Labels, Created: n.CreationTimestamp.UTC(), Finalizers: n.Finalizers,
		SpecFinalizers: n.Spec.Finalizers, Conditions: n.Status.Conditions, Request: request,
	}
	if n.DeletionTimestamp != nil {
		head.Deleted = n.DeletionTimestamp.UTC()
	}
	entries, err := n.ManagedFields.Entries()
	if err != nil {
		return head // malformed: the writers stay unknown
	}
	for _, entry := range entries {
		switch {
		case entry.Time == nil:
		case writesConditions(string(entry.FieldsV1)):
			head.Writers = append(head.Writers, why.Writer{Manager: entry.Manager, At: entry.Time.UTC()})
		case entry.Subresource == "" && entry.Time.After(head.Changed):
			head.Changed = entry.Time.UTC()
		}
	}
	return head
}

// writesConditions reports whether fields of a namespace are among the five conditions of its
// controller.
func writesConditions(fields string) bool {
	return slices.ContainsFunc(why.ConditionTypes, func(t api.NamespaceConditionType) bool {
		return strings.Contains(fields, `k:{\"type\":\"`+string(t)+`\"}`)
	})
}

// inDeletionNow returns the names of the terminating namespaces.
func (c *collector) inDeletionNow(ctx context.Context) (names []string, err error) {
	_, err = pages(ctx, c, terminatingOnly, maxPages, func() { names = nil }, func(o *api.PartialObjectMetadata) {
		names = append(names, o.Name)
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

// The collections that are read of the cluster.
var (
	apiServicesResource = api.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	definitionsResource = api.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	leasesResource      = api.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	nodesResource       = api.GroupVersionResource{Version: "v1", Resource: "nodes"}
	servicesResource    = api.GroupVersionResource{Version: "v1", Resource: "services"}
	slicesResource      = api.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}
	attachmentsResource = api.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattachments"}
)

// terminatingOnly selects the terminating namespaces.
var terminatingOnly = query{gvr: api.NamespacesResource, fields: "status.phase=" + string(api.NamespaceTerminating)}

const systemNamespace = "kube-system"

// environment is the part of wave 1 that reads the cluster.
func (c *collector) environment(ctx context.Context) {
	e := &c.evidence
	parallel(
		func() { e.Server = c.version(ctx) },
		func() { c.control(ctx) },
	)
}

// control reads what may change meanwhile, and is therefore read again after the interval: the
// other servers, the definitions, the pods of kube-controller-manager and the Leases of its
// namespace.
func (c *collector) control(ctx context.Context) {
	e := &c.evidence
	before := e.Leases.Items
	managers := query{gvr: api.PodsResource, namespace: systemNamespace, labels: "component=kube-controller-manager"}
	parallel(
		func() { e.APIServices = listWhole(ctx, c, apiServicesResource, "", api.ListOptions{}, apiService) },
		func() { e.Definitions = c.definitions(ctx) },
		func() { e.Managers = list(ctx, c, managers, managerOf) },
		func() {
			e.Leases = list(ctx, c, query{gvr: leasesResource, namespace: systemNamespace}, lease)
			for i, l := range e.Leases.Items {
				e.Leases.Items[i].Moved = slices.ContainsFunc(before, func(b why.Lease) bool {
					return b.Name == l.Name && !b.Renewed.Equal(l.Renewed)
				})
			}
		},
	)
}

// copyControl takes over from another namespace what control has read.
func (c *collector) copyControl(from *collector) {
	to, e := &c.evidence, &from.evidence
	to.APIServices, to.Definitions, to.Managers, to.Leases = e.APIServices, e.Definitions, e.Managers, e.Leases
}

func (c *collector) version(ctx context.Context) string {
	var version api.VersionInfo
	err := c.attempt(ctx, func(ctx context.Context) error {
		return c.client.Do(ctx, restclient.Request{Path: "/version"}, &version)
	})
	if err != nil {
		return ""
	}
	return version.GitVersion
}

// definitions lists the heads of the CustomResourceDefinitions.
func (c *collector) definitions(ctx context.Context) why.Answer[why.Definition] {
	return list(ctx, c, query{gvr: definitionsResource},
		func(kept []why.Definition, o *api.PartialObjectMetadata) []why.Definition {
			return append(kept, why.Definition{Object: objectOf(&o.ObjectMeta), Type: o.Name, Release: releaseOf(o.Annotations)})
		})
}

// listWhole is list for readers of maps.
func listWhole[T any](
	ctx context.Context, c *collector, gvr api.GroupVersionResource, namespace string, options api.ListOptions,
	read func(*api.Unstructured) (T, bool),
) why.Answer[T] {
	q := query{gvr: gvr, namespace: namespace, labels: options.LabelSelector, fields: options.FieldSelector}
	return list(ctx, c, q, func(kept []T, o *api.Unstructured) []T {
		if one, ok := read(o); ok {
			kept = append(kept, one)
		}
		return kept
	})
}

// releaseOf returns the Helm release that an object belongs to, by its annotations.
func releaseOf(annotations map[string]string) why.Service {
	return why.Service{Namespace: annotations["meta.helm.sh/release-namespace"], Name: annotations["meta.helm.sh/release-name"]}
}

// changedOf returns when an object was last written, its status apart. It returns the zero time
// without managedFields.
func changedOf(o *api.Unstructured) (last time.Time) {
	return latest(o, func(subresource string) bool { return subresource != "status" })
}

// latest returns the last time among the entries of managedFields that count.
func latest(o *api.Unstructured, counts func(subresource string) bool) (last time.Time) {
	for _, entry := range items(o.Nested("metadata", "managedFields")) {
		if at := moment(text(entry, "time")); counts(text(entry, "subresource")) && at.After(last) {
			last = at
		}
	}
	return last
}

func apiService(o *api.Unstructured) (why.APIService, bool) {
	a := why.APIService{Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), GroupVersion: api.GroupVersion{
		Group: o.NestedString("spec", "group"), Version: o.NestedString("spec", "version"),
	}.String()}
	a.Service = service(o.Nested("spec", "service"))
	condition := conditionOf(o, "Available")
	a.Available, a.Reason, a.Message = text(condition, "status"), text(condition, "reason"), text(condition, "message")
	a.Since = moment(text(condition, "lastTransitionTime"))
	return a, true
}

func lease(kept []why.Lease, o *api.Lease) []why.Lease {
	l := why.Lease{Namespace: o.Namespace, Name: o.Name, Holder: o.Spec.HolderIdentity}
	if o.Spec.RenewTime != nil {
		l.Renewed = o.Spec.RenewTime.UTC()
	}
	if o.Spec.LeaseDurationSeconds != nil {
		l.Duration = time.Duration(*o.Spec.LeaseDurationSeconds) * time.Second
	}
	return append(kept, l)
}

// leaseAgain reads a Lease after the interval.
func (c *collector) leaseAgain(kept []why.Lease, o *api.Lease) []why.Lease {
	kept = lease(kept, o)
	version, known := c.versions[o.Namespace+"/"+o.Name]
	kept[len(kept)-1].Moved = known && version != o.ResourceVersion
	return kept
}

// service parses a reference to a Service. It returns nil if v is none.
func service(reference any) *why.Service {
	fields, _ := reference.(map[string]any)
	s := why.Service{Namespace: text(fields, "namespace"), Name: text(fields, "name")}
	if s.Name == "" {
		return nil
	}
	return &s
}

// conditionOf returns a condition of an object's status, nil without it.
func conditionOf(o *api.Unstructured, conditionType string) map[string]any {
	for _, condition := range items(o.Nested("status", "conditions")) {
		if text(condition, "type") == conditionType {
			return condition
		}
	}
	return nil
}

// items returns the objects of a list. It turns a string s into the object {key: s}.
func items(value any, key ...string) (objects []map[string]any) {
	entries, _ := value.([]any)
	for _, entry := range entries {
		if fields, ok := entry.(map[string]any); ok {
			objects = append(objects, fields)
		} else if len(key) > 0 {
			objects = append(objects, map[string]any{key[0]: entry})
		}
	}
	return objects
}

// words returns the strings of a list.
func words(value any) (list []string) {
	for _, item := range items(value, "word") {
		list = append(list, text(item, "word"))
	}
	return list
}

func text(fields map[string]any, key string) string {
	value, _ := fields[key].(string)
	return value
}

// moment parses a time. It returns the zero time if that fails.
func moment(value string) time.Time {
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
