package nsctl_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// smallServer is a minimal API server for deleting a namespace: one namespace, one type, and two
// objects, one of them with a finalizer.
type smallServer struct {
	namespace  *api.Namespace
	configMaps []*api.PartialObjectMetadata
}

func (s *smallServer) Get(context.Context, string, api.GetOptions) (*api.Namespace, error) {
	return s.namespace, nil
}

func (s *smallServer) UpdateStatus(_ context.Context, ns *api.Namespace, _ api.UpdateOptions) (*api.Namespace, error) {
	for _, condition := range ns.Status.Conditions {
		if condition.Status == api.ConditionTrue {
			fmt.Printf("condition %s: %s\n", condition.Type, condition.Message)
		}
	}
	s.namespace = ns
	return ns, nil
}

func (s *smallServer) UpdateSubresource(_ context.Context, name, subresource string, ns *api.Namespace,
	_ api.UpdateOptions) (*api.Namespace, error) {
	fmt.Printf("%s %s: finalizers are now %q\n", subresource, name, ns.Spec.Finalizers)
	s.namespace = ns
	return ns, nil
}

// smallContent is the content client of the same server.
type smallContent struct {
	nsctl.ContentClient // whose other methods are not needed here
	*smallServer
}

func (s smallContent) DeleteCollection(_ context.Context, gvr api.GroupVersionResource,
	_ string) ([]*api.PartialObjectMetadata, bool, error) {
	found := s.configMaps
	fmt.Printf("deleting all %s: the server found %d\n", gvr.Resource, len(found))
	s.configMaps = nil
	for _, object := range found {
		if len(object.Finalizers) > 0 {
			s.configMaps = append(s.configMaps, object)
		}
	}
	return found, true, nil
}

func (s smallContent) Pages(
	_ context.Context, _ api.GroupVersionResource, _ string, each func([]*api.PartialObjectMetadata) error,
) error {
	return each(s.configMaps)
}

func (s *smallServer) PreferredNamespacedResources(context.Context, time.Time) ([]*api.APIResourceList, error) {
	return []*api.APIResourceList{{GroupVersion: "v1", Resources: []api.APIResource{
		{Name: "configmaps", Namespaced: true, Verbs: []string{"delete", "deletecollection", "list"}},
	}}}, nil
}

func (s *smallServer) Invalidate() {}

// A namespace with an object whose owner still has to clean up takes two passes.
func Example() {
	deletedAt := api.NewTime(time.Now())
	server := &smallServer{
		namespace: &api.Namespace{
			ObjectMeta: api.ObjectMeta{Name: "team-a", DeletionTimestamp: &deletedAt},
			Spec:       api.NamespaceSpec{Finalizers: []string{"kubernetes"}},
			Status:     api.NamespaceStatus{Phase: api.NamespaceTerminating},
		},
		configMaps: []*api.PartialObjectMetadata{
			{ObjectMeta: api.ObjectMeta{Name: "plain"}},
			{ObjectMeta: api.ObjectMeta{Name: "held", Finalizers: []string{"example.com/backup"}}},
		},
	}
	deleter := nsctl.NewDeleter(nsctl.DeleterConfig{Namespaces: server, Content: smallContent{smallServer: server},
		Discovery: server})

	err := deleter.Delete(context.Background(), "team-a", nsctl.ObservedDeletion{})
	var remaining *nsctl.ResourcesRemainingError
	if errors.As(err, &remaining) {
		fmt.Printf("look again in %v\n", remaining.RequeueAfter())
	}

	server.configMaps = nil // the backup is made, and its finalizer removed
	fmt.Println("second pass:", deleter.Delete(context.Background(), "team-a", nsctl.ObservedDeletion{}))

	// Output:
	// deleting all configmaps: the server found 2
	// condition NamespaceContentRemaining: Some resources are remaining: configmaps. has 1 resource instances
	// condition NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: example.com/backup in 1 resource instances
	// look again in 8s
	// deleting all configmaps: the server found 0
	// finalize team-a: finalizers are now []
	// second pass: <nil>
}
