package collect

import (
	"cmp"
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
	return headOf(&namespace, "GET "+path), answer.Time().UTC(), nil, nil
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
	_, err = pages(ctx, c, terminatingOnly, maxPages, func(o *api.PartialObjectMetadata) {
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
const controlRequests = 4

// control is wave 3: it reads the other servers, the definitions, the pods of
// kube-controller-manager, and the Leases of controllers and of kubelets.
func (c *collector) control(ctx context.Context) {
	e := &c.evidence
	managers := query{gvr: api.PodsResource, namespace: systemNamespace, labels: "component=kube-controller-manager"}
	parallel(
		func() { e.APIServices = list(ctx, c, query{gvr: apiServicesResource}, apiServiceOf) },
		func() { e.Definitions = list(ctx, c, query{gvr: definitionsResource}, headOfDefinition) },
		func() { e.Managers = list(ctx, c, managers, managerOf) },
		func() { e.Leases = list(ctx, c, query{gvr: leasesResource}, leaseOf) },
	)
}

// admission selects a type that admission is configured with.
func admission(resource string) query {
	return query{gvr: v1("admissionregistration.k8s.io", resource)}
}

// webhooks reads both kinds of webhook configurations.
func (c *collector) webhooks(ctx context.Context) {
	c.evidence.Webhooks = joined(func(resource string) why.Answer[why.Webhook] {
		return list(ctx, c, admission(resource), func(kept []why.Webhook, o *object) []why.Webhook {
			for _, w := range o.Webhooks {
				hook := w.Webhook
				hook.Resource, hook.Configuration, hook.Changed = resource, o.Name, changed(o.ManagedFields)
				hook.FailurePolicy = cmp.Or(w.FailurePolicy, "Fail")
				hook.Narrowed = len(w.Conditions) > 0 || !w.Objects.Empty()
				kept = append(kept, hook)
			}
			return kept
		})
	}, "validatingwebhookconfigurations", "mutatingwebhookconfigurations")
}

// policies reads the admission policies and their bindings. A server without them has none.
func (c *collector) policies(ctx context.Context) {
	c.evidence.Policies = joined(func(resource string) why.Answer[why.Policy] {
		answer := list(ctx, c, admission(resource), policyOf)
		if answer.Failed != nil && answer.Failed.Code == http.StatusNotFound {
			answer.Failed = nil
		}
		return answer
	}, "validatingadmissionpolicies", "validatingadmissionpolicybindings")
}

// changed returns when an object was last written, its status apart.
func changed(fields api.ManagedFields) time.Time { return lastWrite(fields, false) }

// These reads have limits beside that of all requests: reviews of the controller's refusals, and of
// the rights of the owners of finalizers.
const (
	maxReviews = 4
	maxOwners  = 30
)

// suspicions is wave 4: it reads what the samples give a reason for.
func (c *collector) suspicions(ctx context.Context) {
	e := &c.evidence
	n := e.Latest()
	var reads []func()
	ask := func(reason bool, read func()) {
		if reason {
			reads = append(reads, read)
		}
	}
	fails := n.Condition(api.NamespaceDeletionContentFailure) != ""
	ask(fails || len(e.Held()) > 0, func() { c.webhooks(ctx) })
	ask(fails, func() { c.policies(ctx) })
	ask(e.Ending(), func() { e.Nodes = list(ctx, c, query{gvr: nodesResource}, nodeOf) })
	ask(len(why.Refusals(n, e.Name)) > 0, func() { c.reviews(ctx) })
	ask(e.BlamesConversion(), func() { e.Definitions = list(ctx, c, query{gvr: definitionsResource}, definitionOf) })
	held := append(e.HeldOrAwaiting(), e.HeldNamespace()...)
	ask(len(held) > 0, func() { c.workloads(ctx, held) })
	ask(slices.ContainsFunc(held, why.Held.ByRights), func() { c.grants(ctx, held) })
	parallel(reads...)
	c.backends(ctx)
	c.ownersRights(ctx)
}

// reviews checks the first refusals in the conditions: whether the user lacks the right.
func (c *collector) reviews(ctx context.Context) {
	refusals := why.Refusals(c.evidence.Latest(), c.evidence.Name)
	for _, refusal := range refusals[:min(len(refusals), maxReviews)] {
		c.evidence.Reviews = append(c.evidence.Reviews, c.review(ctx, refusal))
	}
}

// review sends one SubjectAccessReview.
func (c *collector) review(ctx context.Context, asked why.Refusal) why.Review {
	const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
	review := why.Review{Refusal: asked, Request: "POST " + path}
	spec := map[string]any{"user": asked.User, "groups": groupsOf(asked.User), "resourceAttributes": map[string]any{
		"namespace": c.evidence.Name, "verb": asked.Verb, "group": asked.Group, "resource": asked.Resource,
		"name": asked.Name,
	}}
	question, err := json.Marshal(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
		"spec": spec})
	var answer struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	if err == nil {
		err = c.do(ctx, restclient.Request{Verb: http.MethodPost, Path: path, Body: question}, &answer)
	}
	review.Allowed, review.Failed = answer.Status.Allowed, failure(review.Request, "create subjectaccessreviews", err)
	return review
}

// groupsOf returns the groups that follow from a user's name: those of a service account, or of any
// authenticated user.
func groupsOf(user string) []string {
	groups := []string{"system:authenticated"}
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(account, ":")
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return groups
}

// backends reads the Services that the findings of wave 4 depend on.
func (c *collector) backends(ctx context.Context) {
	e := &c.evidence
	var wanted []why.Service
	want := func(s *why.Service) {
		if s != nil && !slices.Contains(wanted, *s) {
			wanted = append(wanted, *s)
		}
	}
	for _, hook := range e.Webhooks.Items {
		if e.Accuses(hook) || len(e.KeptBy(hook)) > 0 {
			want(hook.Service)
		}
	}
	for _, a := range e.APIServices.Items {
		if slices.Contains(e.Undiscovered(), a.GroupVersion) && a.Available != "True" {
			want(a.Service)
		}
	}
	for i := range e.Types {
		want(e.Promises(&e.Types[i]))
	}
	for _, definition := range e.Definitions.Items {
		want(definition.Converter.Service)
	}
	e.Backends = each(wanted, func(s why.Service) why.Backend { return c.backend(ctx, s) })
}

// backend reads whether a Service exists and how many ready endpoints it has.
func (c *collector) backend(ctx context.Context, s why.Service) why.Backend {
	named := list(ctx, c, query{gvr: servicesResource, namespace: s.Namespace, fields: "metadata.name=" + s.Name},
		whole[*object])
	at := slices.IndexFunc(named.Items, func(o *object) bool { return o.Name == s.Name })
	if at < 0 {
		return why.Backend{Service: s, Request: named.Request, Failed: named.Failed}
	}
	behind := query{gvr: slicesResource, namespace: s.Namespace, labels: "kubernetes.io/service-name=" + s.Name}
	endpoints := list(ctx, c, behind, whole[*object])
	b := why.Backend{Service: s, Exists: true, Request: endpoints.Request, Failed: endpoints.Failed}
	if external := named.Items[at].Spec.External; external != "" { // it has no endpoints
		b.Failed = &why.Failure{Request: named.Request, Message: "it stands for " + external}
	}
	for _, slice := range endpoints.Items {
		b.Changed = later(b.Changed, changed(slice.ManagedFields))
		for _, endpoint := range slice.Endpoints {
			switch is := endpoint.Conditions; {
			case is.Ready == nil || *is.Ready: // an endpoint without the condition is ready
				b.Ready++
			case !is.Terminating:
				b.Coming++
			}
		}
	}
	return b
}

// workloads lists the workloads that may be the owners. Of the pods, of which an owner may have no
// other workload, it keeps those that may be one.
func (c *collector) workloads(ctx context.Context, held []why.Held) {
	e := &c.evidence
	e.Workloads = joined(func(resource string) why.Answer[why.Workload] {
		q := query{gvr: v1("apps", resource)}
		if resource == api.PodsResource.Resource {
			q.gvr = api.PodsResource
		}
		return list(ctx, c, q, workloadOf(strings.TrimSuffix(resource, "s")))
	}, "deployments", "statefulsets", "daemonsets", "pods")
	e.Workloads.Items = slices.DeleteFunc(e.Workloads.Items, func(w why.Workload) bool {
		return w.Kind == why.PodKind && !slices.ContainsFunc(held, func(h why.Held) bool { return h.MayOwn(w) })
	})
}

// grants finds the service accounts that may update held custom types, by a rule that names their
// group. Roles and bindings of other namespaces show who has had a right here, too.
func (c *collector) grants(ctx context.Context, held []why.Held) {
	var groups []string
	for _, h := range held {
		if h.ByRights() {
			groups = append(groups, h.Type.Group)
		}
	}
	all := joined(func(resource string) why.Answer[*object] {
		return list(ctx, c, query{gvr: v1("rbac.authorization.k8s.io", resource)}, whole[*object])
	}, "clusterrolebindings", "rolebindings", "clusterroles", "roles")
	c.evidence.Grants = why.Answer[why.Grant]{Request: all.Request, Failed: all.Failed}
	if all.Failed == nil {
		c.evidence.Grants.Items = granted(all.Items, groups)
	}
}

// granted joins roles and bindings.
func granted(roles []*object, groups []string) (grants []why.Grant) {
	rights := map[string][]why.Grant{} // by role: NAMESPACE/NAME, or /NAME of a ClusterRole
	for _, o := range roles {
		key := o.Namespace + "/" + o.Name
		rights[key] = append(rights[key], o.rights(groups)...)
	}
	for _, b := range roles {
		key := "/" + b.Of.Name
		if b.Of.Kind == "Role" {
			key = b.Namespace + key
		}
		for _, right := range rights[key] {
			for _, s := range b.Subjects {
				right.Service = why.Service{}
				if s.Kind == "ServiceAccount" {
					right.Service = why.Service{Namespace: cmp.Or(s.Namespace, b.Namespace), Name: s.Name}
				}
				grants = append(grants, right)
			}
		}
	}
	return grants
}

// ownersRights checks whether running owners may still remove their finalizers.
func (c *collector) ownersRights(ctx context.Context) {
	e := &c.evidence
	var asked []why.Refusal
	for _, h := range e.HeldOrAwaiting() {
		for _, w := range e.Workloads.Items {
			if !h.ByRights() || w.Ready == 0 || w.Namespace == e.Name || !h.Owns(w) {
				continue
			}
			for _, refusal := range h.OwnersRights(w) {
				if len(asked) < maxOwners && !slices.Contains(asked, refusal) {
					asked = append(asked, refusal)
					e.Reviews = append(e.Reviews, c.review(ctx, refusal))
				}
			}
		}
	}
}
