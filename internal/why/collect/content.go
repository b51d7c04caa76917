package collect

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"orrery/internal/why"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

var errNoNamespace = errors.New("the answer is not the namespace")

// content is wave 2: every type that the deleter would empty.
func (c *collector) content(ctx context.Context) { contents(ctx, c) }

// contents is wave 2 for several namespaces: each type is listed once. A list of one namespace is
// limited to it.
func contents(ctx context.Context, all ...*collector) {
	c := all[0]
	deleted := c.evidence.Namespace.Deleted
	for _, one := range all {
		if one.evidence.Namespace.Deleted.After(deleted) {
			deleted = one.evidence.Namespace.Deleted
		}
		one.evidence.Discovery.Request = "GET /apis"
	}
	if err := c.take(discoveryRequests); err != nil {
		for _, one := range all {
			one.discovered(err)
		}
		return
	}
	types := discovery.NewCached(discovery.NewWithConfig(c.client, discovery.Config{OnlyWhenReady: true}))
	looked := nsctl.Look(api.WithSingleAttempt(ctx), types, deleted, func(ctx context.Context, r nsctl.DeletableResource) error {
		for i, t := range c.read(ctx, r.GVR, all) {
			t.Singular = r.Singular
			all[i].mu.Lock()
			all[i].evidence.Types = append(all[i].evidence.Types, t)
			all[i].mu.Unlock()
		}
		return nil
	})
	for _, one := range all {
		one.discovered(looked.DiscoveryErr)
		for _, r := range looked.Resources {
			if !r.CanList {
				one.evidence.Types = append(one.evidence.Types, why.Type{Group: r.GVR.Group, Version: r.GVR.Version, Resource: r.GVR.Resource})
			}
		}
	}
}

// discoveryRequests is how many requests one discovery takes: readiness, /api and /apis.
const discoveryRequests = 3

// discovered records the outcome of discovery, beside the list of types.
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

// read lists one type in each namespace, page by page. If a continue token expires, it starts over
// once.
func (c *collector) read(ctx context.Context, gvr api.GroupVersionResource, all []*collector) []why.Type {
	for again := true; ; again = false {
		shelves := newShelves(gvr, all)
		err := c.pages(ctx, gvr, shelves)
		if api.IsExpired(err) && again {
			continue
		}
		if api.CodeOf(err) >= http.StatusInternalServerError && len(all) > 1 {
			return c.singly(ctx, gvr, all) // the fault may be that of one of the namespaces
		}
		var types []why.Type
		for _, s := range shelves {
			s.t.Failed = query{gvr: gvr, namespace: scope(all)}.failure(err)
			s.t.Objects = s.kept.objects()
			s.c.mu.Lock()
			s.c.evidence.Pods = append(s.c.evidence.Pods, s.pods...)
			s.c.mu.Unlock()
			types = append(types, s.t)
		}
		return types
	}
}

// singly lists a type in one namespace after the other.
func (c *collector) singly(ctx context.Context, gvr api.GroupVersionResource, all []*collector) (types []why.Type) {
	for _, one := range all {
		types = append(types, one.read(ctx, gvr, []*collector{one})...)
	}
	return types
}

// shelf has the content of one type in one namespace.
type shelf struct {
	c    *collector
	t    why.Type
	kept keeper
	pods []why.Pod
}

func newShelves(gvr api.GroupVersionResource, all []*collector) (shelves []*shelf) {
	for _, c := range all {
		s := &shelf{c: c, kept: keeper{name: c.evidence.Name, deleted: c.evidence.Namespace.Deleted}}
		s.t = why.Type{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource, Request: query{gvr: gvr, namespace: scope(all)}.String()}
		shelves = append(shelves, s)
	}
	return shelves
}

// scope returns the namespace to list: "" for all.
func scope(all []*collector) string {
	if len(all) == 1 {
		return all[0].evidence.Name
	}
	return ""
}

// of returns the shelf of a namespace, nil for a namespace that is not examined.
func of(shelves []*shelf, namespace string) *shelf {
	at := slices.IndexFunc(shelves, func(s *shelf) bool { return s.c.evidence.Name == namespace })
	if at < 0 {
		return nil
	}
	return shelves[at]
}

func (c *collector) pages(ctx context.Context, gvr api.GroupVersionResource, shelves []*shelf) error {
	options := api.ListOptions{Limit: pageSize}
	var all []*collector
	for _, s := range shelves {
		all = append(all, s.c)
	}
	for page := 1; ; page++ {
		var head api.ListMeta
		err := c.attempt(ctx, func(ctx context.Context) (err error) {
			if gvr == api.PodsResource {
				head, err = c.podPage(ctx, scope(all), options, shelves)
			} else {
				head, err = c.page(ctx, gvr, scope(all), options, shelves)
			}
			return err
		})
		if err != nil {
			return err
		}
		if head.Continue == "" || page == maxPages {
			for _, s := range shelves {
				if len(shelves) == 1 && head.Continue != "" && head.RemainingItemCount != nil {
					s.t.Count += int(*head.RemainingItemCount)
				} else {
					s.t.More = head.Continue != ""
				}
			}
			return nil
		}
		options.Continue = head.Continue
	}
}

func (c *collector) page(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, options api.ListOptions, shelves []*shelf,
) (api.ListMeta, error) {
	list, err := restclient.Metadata(c.client, gvr, namespace).List(ctx, options)
	if err != nil {
		return api.ListMeta{}, err
	}
	for _, item := range list.Items {
		if s := of(shelves, item.Namespace); s != nil {
			count(&s.t, s.kept.add(objectOf(&item.ObjectMeta), item.ManagedFields))
		}
	}
	return list.ListMeta, nil
}

func (c *collector) podPage(ctx context.Context, namespace string, options api.ListOptions, shelves []*shelf) (api.ListMeta, error) {
	list, err := restclient.Typed[*pod](c.client, api.PodsResource, namespace).List(ctx, options)
	if err != nil {
		return api.ListMeta{}, err
	}
	for _, item := range list.Items {
		s := of(shelves, item.Namespace)
		if s == nil {
			continue
		}
		object := objectOf(&item.ObjectMeta)
		count(&s.t, s.kept.add(object, item.ManagedFields))
		if len(s.pods) < why.MaxKept {
			s.pods = append(s.pods, podOf(item, object))
		}
	}
	return list.ListMeta, nil
}

func objectOf(m *api.ObjectMeta) why.Object {
	o := why.Object{Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Created: m.CreationTimestamp.UTC(), Finalizers: m.Finalizers}
	if m.DeletionTimestamp != nil {
		o.Deleted = m.DeletionTimestamp.UTC()
	}
	for _, owner := range m.OwnerReferences {
		o.Owners = append(o.Owners, why.Owner{
			Group: groupOf(owner.APIVersion), Kind: owner.Kind, Name: owner.Name, UID: owner.UID, Blocks: owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion,
			Controls: owner.Controller != nil && *owner.Controller,
		})
	}
	return o
}

// groupOf returns the group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
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

// second is wave 4: it reads again what may have changed.
func (c *collector) second(ctx context.Context) {
	e := &c.evidence
	namespace, at, failed, err := c.namespace(ctx)
	if err != nil || failed != nil && failed.Code != 404 {
		if err != nil {
			failed = failure("", "", err)
		}
		c.leaveOut(errors.New("the second sample failed: " + failed.Message))
		return
	}
	s := &why.Sample{At: at, Namespace: namespace}
	e.Second = s
	if namespace == nil || namespace.UID != e.Namespace.UID {
		s.Again, s.Namespace = namespace != nil, nil
		return
	}
	var reads []func()
	if len(e.Discovery.Failed) > 0 || namespace.Condition(api.NamespaceDeletionDiscoveryFailure) != "" {
		reads = append(reads, func() {
			err := c.take(discoveryRequests)
			if err == nil {
				types := discovery.NewWithConfig(c.client, discovery.Config{OnlyWhenReady: true})
				_, err = types.ServerPreferredNamespacedResources(api.WithSingleAttempt(ctx))
			}
			s.Stale, s.Failed, s.Discovery = undiscovered(err)
			if s.Failed == nil && s.Discovery == nil {
				s.Failed = map[string]string{}
			}
		})
	}
	for _, t := range e.Types {
		broken := t.Failed != nil && t.Failed.Code == http.StatusInternalServerError // it may have been repaired
		if !broken && (t.Count == 0 || t.Failed != nil) {
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

// secondPage reads the first page of a type again, metadata only.
func (c *collector) secondPage(ctx context.Context, gvr api.GroupVersionResource) (why.Type, error) {
	shelves := newShelves(gvr, []*collector{c})
	s := shelves[0]
	var head api.ListMeta
	err := c.attempt(ctx, func(ctx context.Context) (err error) {
		head, err = c.page(ctx, gvr, c.evidence.Name, api.ListOptions{Limit: pageSize}, shelves)
		return err
	})
	if head.RemainingItemCount != nil {
		s.t.Count += int(*head.RemainingItemCount)
	} else {
		s.t.More = head.Continue != ""
	}
	s.t.Objects, s.t.Partial = s.kept.objects(), head.Continue != ""
	return s.t, err
}
