package collect

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
)

// These reads have limits beside that of all requests: reviews of the controller's refusals,
// objects whose managedFields show the owners of their finalizers, and reviews of the owners'
// rights.
const (
	maxReviews = 4
	maxStamps  = 24
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
	ask(fails || len(e.Held()) > 0 || e.Ending(), func() { c.webhooks(ctx) })
	ask(fails || e.Ending(), func() { c.policies(ctx) })
	ask(e.Ending(), func() {
		e.NodeLeases = list(ctx, c, query{gvr: leasesResource, namespace: "kube-node-lease"}, leaseOf)
	})
	ask(e.Ending(), func() { e.Nodes = list(ctx, c, query{gvr: nodesResource}, nodeOf) })
	ask(len(e.Stale()) > 0, func() { c.probes(ctx) })
	ask(len(why.Refusals(n, e.Name)) > 0, func() { c.reviews(ctx) })
	ask(e.BlamesConversion(), func() { e.Definitions = list(ctx, c, query{gvr: definitionsResource}, definitionOf) })
	held := append(e.HeldOrAwaiting(), e.HeldNamespace()...)
	ask(len(held) > 0 && e.Terminating == nil, func() {
		var err error
		e.Terminating, err = c.inDeletionNow(ctx)
		e.Unlisted = failure("", "list namespaces", err)
	})
	ask(len(held) > 0, func() { c.workloads(ctx, held) })
	ask(len(held) > 0, func() { e.AllLeases = list(ctx, c, query{gvr: leasesResource}, leaseOf) })
	ask(len(held) > 0, func() { c.stamps(ctx, held) })
	ask(slices.ContainsFunc(held, why.Held.ByRights), func() { c.grants(ctx, held) })
	parallel(reads...)
	c.backends(ctx)
	c.ownersRights(ctx)
}

// probes requests each stale group version whose APIService is available.
func (c *collector) probes(ctx context.Context) {
	e := &c.evidence
	wanted := slices.DeleteFunc(slices.Clone(e.APIServices.Items), func(a why.APIService) bool {
		return a.Available != "True" || !slices.Contains(e.Stale(), a.GroupVersion)
	})
	var reads []func()
	probes := make([]why.Probe, len(wanted))
	for i, a := range wanted {
		path := "/apis/" + a.GroupVersion
		reads = append(reads, func() {
			failed := failure("GET "+path, "get "+path, c.do(ctx, restclient.Request{Path: path}, nil))
			probes[i] = why.Probe{GroupVersion: a.GroupVersion, Request: "GET " + path, Failed: failed}
		})
	}
	parallel(reads...)
	e.Probes = append(e.Probes, probes...)
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
		if e.Accuses(hook) {
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
	for _, hook := range e.Webhooks.Items {
		if len(e.KeptBy(hook)) > 0 {
			want(hook.Service)
		}
	}
	var reads []func()
	backends := make([]why.Backend, len(wanted))
	for i, s := range wanted {
		reads = append(reads, func() { backends[i] = c.backend(ctx, s) })
	}
	parallel(reads...)
	e.Backends = append(e.Backends, backends...)
}

// service has the fields that are read of a Service.
type service struct {
	api.PartialObjectMetadata
	Spec struct {
		Selector map[string]string `json:"selector"`
		External string            `json:"externalName"`
	} `json:"spec"`
}

// endpointSlice has the fields that are read of an EndpointSlice.
type endpointSlice struct {
	api.PartialObjectMetadata
	Endpoints []struct {
		Conditions struct {
			Ready       *bool `json:"ready"`
			Terminating bool  `json:"terminating"`
		} `json:"conditions"`
	} `json:"endpoints"`
}

// backend reads whether a Service exists and how many ready endpoints it has, and counts the pods
// behind it that have no address yet, and therefore no endpoint.
func (c *collector) backend(ctx context.Context, s why.Service) why.Backend {
	named := list(ctx, c, query{gvr: servicesResource, namespace: s.Namespace, fields: "metadata.name=" + s.Name},
		whole[*service])
	at := slices.IndexFunc(named.Items, func(o *service) bool { return o.Name == s.Name })
	if at < 0 {
		return why.Backend{Service: s, Request: named.Request, Failed: named.Failed}
	}
	spec := named.Items[at].Spec
	behind := query{gvr: slicesResource, namespace: s.Namespace, labels: "kubernetes.io/service-name=" + s.Name}
	endpoints := list(ctx, c, behind, whole[*endpointSlice])
	b := why.Backend{Service: s, Exists: true, Request: endpoints.Request, Failed: endpoints.Failed}
	if spec.External != "" { // it has no endpoints
		b.Failed = &why.Failure{Request: named.Request, Message: "it stands for " + spec.External}
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
	if b.Ready+b.Coming > 0 || len(spec.Selector) == 0 {
		return b
	}
	var labels []string
	for key, value := range spec.Selector {
		labels = append(labels, key+"="+value)
	}
	slices.Sort(labels)
	pods := query{gvr: api.PodsResource, namespace: s.Namespace, labels: strings.Join(labels, ",")}
	for _, o := range list(ctx, c, pods, whole[*pod]).Items {
		if o.mayRun() {
			b.Coming++
			b.Changed = later(b.Changed, o.CreationTimestamp.Time)
		}
	}
	return b
}

// node has the fields that are read of a Node.
type node struct {
	api.PartialObjectMetadata
	Status struct {
		Conditions conditions `json:"conditions"`
	} `json:"status"`
}

func nodeOf(kept []why.Node, o *node) []why.Node {
	ready := o.Status.Conditions.get("Ready")
	return append(kept, why.Node{Name: o.Name, Ready: ready.Status, Since: ready.Since.UTC()})
}
