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

var errNoNamespace = errors.New("the answer is not the namespace")

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
	err := c.do(ctx, restclient.Request{Path: path}, &answer)
	refused, _ := errors.AsType[*api.StatusError](err)
	switch {
	case refused == nil:
	case refused.Status.Code == http.StatusNotFound && c.evidence.Namespace != nil &&
		!isAbout(refused, c.evidence.Name):
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
	return about != nil && about.Kind == "namespaces" && about.Name == namespace &&
		!refused.HasCause(api.CauseUnexpectedServerResponse)
}

func headOf(n *api.Namespace, request string) *why.Namespace {
	head := &why.Namespace{
		UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: n.Labels, Finalizers: n.Finalizers,
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
	apiServicesResource = v1("apiregistration.k8s.io", "apiservices")
	definitionsResource = v1("apiextensions.k8s.io", "customresourcedefinitions")
	leasesResource      = v1("coordination.k8s.io", "leases")
	nodesResource       = v1("", "nodes")
	servicesResource    = v1("", "services")
	slicesResource      = v1("discovery.k8s.io", "endpointslices")
)

// v1 returns a resource of version v1 of its group.
func v1(group, resource string) api.GroupVersionResource {
	return api.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
}

// terminatingOnly selects the terminating namespaces.
var terminatingOnly = query{gvr: api.NamespacesResource, fields: "status.phase=" + string(api.NamespaceTerminating)}

const systemNamespace = "kube-system"

// controlRequests is how many requests control sends if each list has one page.
const controlRequests = 5

// control is wave 3: it reads the server's version, the other servers, the definitions, the pods of
// kube-controller-manager and the Leases of its namespace.
func (c *collector) control(ctx context.Context) {
	e := &c.evidence
	managers := query{gvr: api.PodsResource, namespace: systemNamespace, labels: "component=kube-controller-manager"}
	parallel(
		func() { e.Server = c.version(ctx) },
		func() { e.APIServices = list(ctx, c, query{gvr: apiServicesResource}, apiServiceOf) },
		func() { e.Definitions = list(ctx, c, query{gvr: definitionsResource}, headOfDefinition) },
		func() { e.Managers = list(ctx, c, managers, managerOf) },
		func() { e.Leases = list(ctx, c, query{gvr: leasesResource, namespace: systemNamespace}, leaseOf) },
	)
}

func (c *collector) version(ctx context.Context) string {
	var version api.VersionInfo
	if err := c.do(ctx, restclient.Request{Path: "/version"}, &version); err != nil {
		return ""
	}
	return version.GitVersion
}

// apiService has the fields that are read of an APIService.
type apiService struct {
	api.PartialObjectMetadata
	Spec struct {
		Group   string       `json:"group"`
		Version string       `json:"version"`
		Service *why.Service `json:"service"`
	} `json:"spec"`
	Status struct {
		Conditions conditions `json:"conditions"`
	} `json:"status"`
}

func apiServiceOf(kept []why.APIService, o *apiService) []why.APIService {
	available := o.Status.Conditions.get("Available")
	return append(kept, why.APIService{
		Name: o.Name, Service: o.Spec.Service,
		GroupVersion: api.GroupVersion{Group: o.Spec.Group, Version: o.Spec.Version}.String(),
		Available:    available.Status, Reason: available.Reason, Since: available.Since.UTC(),
	})
}

// definition has the fields that are read of a CustomResourceDefinition of which not only the
// metadata is.
type definition struct {
	api.PartialObjectMetadata
	Spec struct {
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Conversion struct {
			Strategy string `json:"strategy"`
			Webhook  struct {
				Client why.ClientConfig `json:"clientConfig"`
			} `json:"webhook"`
		} `json:"conversion"`
	} `json:"spec"`
}

func headOfDefinition(kept []why.Definition, o *api.PartialObjectMetadata) []why.Definition {
	return append(kept, why.Definition{Object: objectOf(&o.ObjectMeta), Type: o.Name})
}

func definitionOf(kept []why.Definition, o *definition) []why.Definition {
	kept = headOfDefinition(kept, &o.PartialObjectMetadata)
	d := &kept[len(kept)-1]
	d.Kind, d.Changed = o.Spec.Names.Kind, changed(o.ManagedFields)
	if conversion := o.Spec.Conversion; conversion.Strategy == "Webhook" {
		d.Converter = conversion.Webhook.Client
	}
	return kept
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
