package collect

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"orrery/internal/why"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

const (
	pageSize = 500
	// maxPages bounds how much of one type is read.
	maxPages = 200
)

var errNoNamespace = errors.New("the answer is not the namespace")

// content is wave 2: every type that the deleter would empty.
func (c *collector) content(ctx context.Context) {
	e := &c.evidence
	types := discovery.NewCached(discovery.NewWithConfig(c.client, discovery.Config{OnlyWhenReady: true}))
	c.requests.Add(discoveryRequests)
	e.Discovery.Request = "GET /apis"
	looked := nsctl.Look(api.WithSingleAttempt(ctx), types, e.Namespace.Deleted, func(ctx context.Context, r nsctl.DeletableResource) error {
		t := c.read(ctx, r.GVR)
		c.mu.Lock()
		defer c.mu.Unlock()
		e.Types = append(e.Types, t)
		return nil
	})
	c.discovered(looked.DiscoveryErr)
	for _, r := range looked.Resources {
		if !r.CanList {
			e.Types = append(e.Types, why.Type{Group: r.GVR.Group, Version: r.GVR.Version, Resource: r.GVR.Resource})
		}
	}
}

// discoveryRequests is how many requests one discovery takes: readiness, /api and /apis.
const discoveryRequests = 3

// discovered records what is known of the types beside the list.
func (c *collector) discovered(err error) {
	d := &c.evidence.Discovery
	d.Stale, d.Failed, d.Refused = undiscovered(err)
}

func undiscovered(err error) (stale []string, failed map[string]string, refused *why.Failure) {
	partly, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if !ok {
		return nil, nil, failure("GET /apis", "get /apis", err)
	}
	failed = map[string]string{}
	for gv, err := range partly.Groups {
		failed[gv.String()] = err.Error()
		if _, isStale := errors.AsType[*discovery.StaleGroupVersionError](err); isStale {
			stale = append(stale, gv.String())
		}
	}
	slices.Sort(stale)
	return stale, failed, nil
}

// read reads what the namespace holds of one type, page by page. A continue token that expires starts the type once more.
func (c *collector) read(ctx context.Context, gvr api.GroupVersionResource) why.Type {
	for again := true; ; again = false {
		t, err := c.pages(ctx, gvr, maxPages)
		if api.IsExpired(err) && again {
			continue
		}
		if err != nil {
			t.Failed = failure(t.Request, "list "+kubectlName(gvr), err)
		}
		return t
	}
}

func (c *collector) pages(ctx context.Context, gvr api.GroupVersionResource, limit int) (why.Type, error) {
	options := api.ListOptions{Limit: pageSize}
	t := why.Type{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Request: requestFor(gvr, c.evidence.Name, options)}
	kept := keeper{name: c.evidence.Name, deleted: c.evidence.Namespace.Deleted}
	for page := 1; ; page++ {
		var head api.ListMeta
		err := c.attempt(ctx, func(ctx context.Context) (err error) {
			if gvr == api.PodsResource {
				head, err = c.podPage(ctx, options, &t, &kept)
			} else {
				head, err = c.page(ctx, gvr, options, &t, &kept)
			}
			return err
		})
		if err != nil {
			return t, err
		}
		if head.Continue == "" || page == limit {
			if head.Continue != "" && head.RemainingItemCount != nil {
				t.Count += int(*head.RemainingItemCount)
			} else {
				t.More = head.Continue != ""
			}
			t.Objects = kept.objects()
			return t, nil
		}
		options.Continue = head.Continue
	}
}

func (c *collector) page(ctx context.Context, gvr api.GroupVersionResource, options api.ListOptions, t *why.Type, kept *keeper) (api.ListMeta, error) {
	list, err := restclient.Metadata(c.client, gvr, c.evidence.Name).List(ctx, options)
	if err != nil {
		return api.ListMeta{}, err
	}
	for _, item := range list.Items {
		count(t, kept.add(objectOf(&item.ObjectMeta)))
	}
	return list.ListMeta, nil
}

// pod is what is read of a pod.
type pod struct {
	api.TypeMeta   `json:",inline"`
	api.ObjectMeta `json:"metadata"`
	Spec           struct {
		NodeName           string `json:"nodeName"`
		ServiceAccountName string `json:"serviceAccountName"`
		Volumes            []struct {
			Claim *struct {
				Name string `json:"claimName"`
			} `json:"persistentVolumeClaim"`
		} `json:"volumes"`
	} `json:"spec"`
	Status struct {
		Conditions []struct{ Type, Status string } `json:"conditions"`
		Containers []struct {
			Name  string `json:"name"`
			State struct {
				Running *struct{} `json:"running"`
			} `json:"state"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

func (c *collector) podPage(ctx context.Context, options api.ListOptions, t *why.Type, kept *keeper) (api.ListMeta, error) {
	list, err := restclient.Typed[*pod](c.client, api.PodsResource, c.evidence.Name).List(ctx, options)
	if err != nil {
		return api.ListMeta{}, err
	}
	for _, item := range list.Items {
		object := objectOf(&item.ObjectMeta)
		count(t, kept.add(object))
		c.mu.Lock()
		if len(c.evidence.Pods) < why.MaxKept {
			c.evidence.Pods = append(c.evidence.Pods, podOf(item, object))
		}
		c.mu.Unlock()
	}
	return list.ListMeta, nil
}

func podOf(item *pod, object why.Object) why.Pod {
	p := why.Pod{Object: object, Node: item.Spec.NodeName, ServiceAccount: item.Spec.ServiceAccountName}
	if item.DeletionGracePeriodSeconds != nil {
		p.Grace = *item.DeletionGracePeriodSeconds
	}
	for _, volume := range item.Spec.Volumes {
		if volume.Claim != nil {
			p.Claims = append(p.Claims, volume.Claim.Name)
		}
	}
	for _, container := range item.Status.Containers {
		if container.State.Running != nil {
			p.Running = append(p.Running, container.Name)
		}
	}
	for _, condition := range item.Status.Conditions {
		p.Ready = p.Ready || condition.Type == "Ready" && condition.Status == "True"
	}
	return p
}

func objectOf(m *api.ObjectMeta) why.Object {
	o := why.Object{Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Created: m.CreationTimestamp.UTC(), Finalizers: m.Finalizers}
	if m.DeletionTimestamp != nil {
		o.Deleted = m.DeletionTimestamp.UTC()
	}
	for _, owner := range m.OwnerReferences {
		o.Owners = append(o.Owners, why.Owner{
			Kind: owner.Kind, Name: owner.Name, UID: owner.UID, Blocks: owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion,
		})
	}
	return o
}

// count adds an object to the figures of its type.
func count(t *why.Type, o why.Object) {
	t.Count++
	if !o.Deleted.IsZero() {
		t.Deleting++
	}
	for _, finalizer := range o.Finalizers {
		if t.Finalizers == nil {
			t.Finalizers = map[string]int{}
		}
		t.Finalizers[finalizer]++
	}
	if t.Oldest.IsZero() || o.Created.Before(t.Oldest) {
		t.Oldest = o.Created
	}
	if o.Created.After(t.Newest) {
		t.Newest = o.Created
	}
}

// keeper keeps the heads of at most why.MaxKept objects of a type: those that block first, which have a finalizer or are younger
// than the deletion.
type keeper struct {
	name             string
	deleted          time.Time
	blockers, others []why.Object
}

func (k *keeper) add(o why.Object) why.Object {
	switch {
	case len(o.Finalizers) > 0 || o.Created.After(k.deleted):
		if len(k.blockers) < why.MaxKept {
			k.blockers = append(k.blockers, o)
		}
	case len(k.others) < why.MaxKept:
		k.others = append(k.others, o)
	}
	return o
}

func (k *keeper) objects() []why.Object {
	all := append(k.blockers, k.others...)
	return slices.Clip(all[:min(len(all), why.MaxKept)])
}

// second is wave 4: what may have changed.
func (c *collector) second(ctx context.Context) {
	e := &c.evidence
	namespace, at, failed, err := c.namespace(ctx)
	if err != nil || failed != nil && failed.Code != 404 {
		text := "the second sample failed: "
		if err == nil {
			err = errors.New(failed.Message)
		}
		c.leaveOut(errors.New(text + err.Error()))
		return
	}
	s := &why.Sample{At: at, Namespace: namespace}
	e.Second = s
	if namespace == nil || namespace.UID != e.Namespace.UID {
		s.Again, s.Namespace = namespace != nil, nil
		return
	}
	var reads []func()
	if len(e.Discovery.Failed) > 0 {
		reads = append(reads, func() {
			c.requests.Add(discoveryRequests)
			types := discovery.NewWithConfig(c.client, discovery.Config{OnlyWhenReady: true})
			_, err := types.ServerPreferredNamespacedResources(api.WithSingleAttempt(ctx))
			s.Stale, s.Failed, s.Discovery = undiscovered(err)
			if s.Failed == nil && s.Discovery == nil {
				s.Failed = map[string]string{}
			}
		})
	}
	for _, t := range e.Types {
		if t.Count == 0 || t.Failed != nil {
			continue
		}
		reads = append(reads, func() {
			again, err := c.secondPage(ctx, t.GVR())
			if err != nil {
				again.Failed = failure(again.Request, "list "+t.Name(), err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			s.Types = append(s.Types, again)
		})
	}
	parallel(reads...)
	slices.SortFunc(s.Types, func(a, b why.Type) int { return cmp.Compare(a.Name(), b.Name()) })
}

// secondPage reads the first page of a type again, heads only.
func (c *collector) secondPage(ctx context.Context, gvr api.GroupVersionResource) (why.Type, error) {
	options := api.ListOptions{Limit: pageSize}
	t := why.Type{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Request: requestFor(gvr, c.evidence.Name, options)}
	kept := keeper{name: c.evidence.Name, deleted: c.evidence.Namespace.Deleted}
	var head api.ListMeta
	err := c.attempt(ctx, func(ctx context.Context) (err error) {
		head, err = c.page(ctx, gvr, options, &t, &kept)
		return err
	})
	if head.RemainingItemCount != nil {
		t.Count += int(*head.RemainingItemCount)
	} else {
		t.More = head.Continue != ""
	}
	t.Objects = kept.objects()
	return t, err
}

// requestFor writes a list as kubectl get --raw takes it, after its method.
func requestFor(gvr api.GroupVersionResource, namespace string, options api.ListOptions) string {
	path := "/api/" + gvr.Version
	if gvr.Group != "" {
		path = "/apis/" + gvr.Group + "/" + gvr.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	query, err := url.QueryUnescape(options.Query().Encode())
	if err != nil {
		panic(err) // it was encoded in the same line
	}
	return "GET " + path + "/" + gvr.Resource + "?" + query
}

// kubectlName is kubectl's name of a type: "pods", "deployments.apps".
func kubectlName(gvr api.GroupVersionResource) string {
	return strings.TrimSuffix(gvr.GroupResource(), ".")
}
