package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// newDeleter is the interpreter for nsctl/deleter.go: one pass over the namespace team, which was
// deleted just now.
func newDeleter(ctx context.Context) commands {
	s := &cluster{objects: map[string][]*api.PartialObjectMetadata{}}
	deleter := nsctl.NewDeleter(nsctl.DeleterConfig{Namespaces: s, Content: s, Discovery: s})
	s.namespace.Name, s.namespace.Status.Phase = "team", api.NamespaceTerminating
	now := api.NewTime(time.Now())
	s.namespace.DeletionTimestamp = &now
	s.namespace.Spec.Finalizers = []string{api.FinalizerKubernetes}
	return commands{
		// the types that the server serves, such as pods or widgets.example.com
		"types NAMES...": func(args ...string) (string, error) {
			s.types = args
			return "", nil
		},
		// a group whose server does not answer discovery
		"silent-group GROUP": func(args ...string) (string, error) {
			s.silent = errors.Join(s.silent, fmt.Errorf("the server of the group %s does not answer", args[0]))
			return "", nil
		},
		"object TYPE NAME FINALIZERS...": func(args ...string) (string, error) {
			o := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: args[1], Finalizers: args[2:]}}
			s.objects[args[0]] = append(s.objects[args[0]], o)
			return "", nil
		},
		// a running pod, which needs that long to end
		"pod NAME SECONDS": func(args ...string) (string, error) {
			grace, err := strconv.ParseInt(args[1], 10, 64)
			pod := &api.Pod{}
			pod.Name, pod.Spec.TerminationGracePeriodSeconds = args[0], &grace
			s.pods = append(s.pods, pod)
			return "", err
		},
		// further tokens in spec.finalizers
		"tokens NAMES...": func(args ...string) (string, error) {
			s.namespace.Spec.Finalizers = append(s.namespace.Spec.Finalizers, args...)
			return "", nil
		},
		"pass": func(...string) (string, error) {
			_ = deleter.Delete(ctx, s.namespace.Name, nsctl.ObservedDeletion{}) // what it did shows
			return "", ctx.Err()
		},
		// the types that were asked to delete their objects
		"deleted": func(...string) (string, error) { return list(s.deleted, " "), nil },
		// the tokens that are left, and so whether the namespace is gone
		"tokens-left": func(...string) (string, error) { return list(s.namespace.Spec.Finalizers, " "), nil },
		// both
		"outcome": func(...string) (string, error) {
			return fmt.Sprintf("deleted: %s; tokens left: %s", list(s.deleted, " "), list(s.namespace.Spec.Finalizers, " ")), nil
		},
	}
}

// cluster is the server of the deleter.
type cluster struct {
	namespace api.Namespace
	types     []string
	silent    error
	objects   map[string][]*api.PartialObjectMetadata
	pods      []*api.Pod
	deleted   []string
}

func (c *cluster) Get(context.Context, string, api.GetOptions) (*api.Namespace, error) {
	latest := c.namespace
	return &latest, nil
}

func (c *cluster) UpdateStatus(_ context.Context, ns *api.Namespace, _ api.UpdateOptions) (*api.Namespace, error) {
	c.namespace.Status = ns.Status
	return ns, nil
}

func (c *cluster) UpdateSubresource(_ context.Context, _, _ string, ns *api.Namespace, _ api.UpdateOptions) (*api.Namespace, error) {
	c.namespace.Spec = ns.Spec
	return ns, nil
}

// resourceName is the name of a type, as kubectl writes it.
func resourceName(gvr api.GroupVersionResource) string {
	return strings.TrimSuffix(gvr.GroupResource(), ".")
}

// DeleteCollection answers 200. Objects with finalizers, and pods with time to end, stay.
func (c *cluster) DeleteCollection(_ context.Context, gvr api.GroupVersionResource, _ string) ([]*api.PartialObjectMetadata, bool, error) {
	name := resourceName(gvr)
	c.deleted = append(c.deleted, name)
	c.objects[name] = slices.DeleteFunc(c.objects[name], func(o *api.PartialObjectMetadata) bool { return len(o.Finalizers) == 0 })
	return nil, false, nil
}

func (c *cluster) List(_ context.Context, gvr api.GroupVersionResource, _ string) ([]*api.PartialObjectMetadata, error) {
	items := c.objects[resourceName(gvr)]
	if gvr == api.PodsResource {
		for _, pod := range c.pods {
			items = append(items, &api.PartialObjectMetadata{ObjectMeta: pod.ObjectMeta})
		}
	}
	return items, nil
}

func (c *cluster) ListPods(context.Context, string) ([]*api.Pod, error) { return c.pods, nil }

func (c *cluster) Pages(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, each func([]*api.PartialObjectMetadata) error,
) error {
	items, _ := c.List(ctx, gvr, namespace)
	return each(items)
}

// The textbook deleter does not need these two: every type has deletecollection, and only the fast
// form asks for holders.

func (c *cluster) Holders(context.Context, api.GroupVersionResource) (map[string]bool, bool, error) {
	return nil, false, errors.ErrUnsupported
}

func (c *cluster) Delete(context.Context, api.GroupVersionResource, string, *api.PartialObjectMetadata) error {
	return errors.ErrUnsupported
}

func (c *cluster) PreferredNamespacedResources(context.Context, time.Time) (lists []*api.APIResourceList, err error) {
	for _, name := range c.types {
		resource, group, grouped := strings.Cut(name, ".")
		version := "v1"
		if grouped {
			version = group + "/v1"
		}
		lists = append(lists, &api.APIResourceList{GroupVersion: version, Resources: []api.APIResource{{
			Name: resource, Namespaced: true, Verbs: []string{"delete", "deletecollection", "list"},
		}}})
	}
	return lists, c.silent
}

func (c *cluster) Invalidate() {}
