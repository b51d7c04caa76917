package secondparty

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"orrery/restclient/api"
)

// Builds and ImageStreams are the types of the second party.
var (
	Builds       = api.GroupVersionResource{Group: "build.openshift.com", Version: "v1", Resource: "builds"}
	ImageStreams = api.GroupVersionResource{Group: "image.openshift.com", Version: "v1", Resource: "imagestreams"}
)

// Storage keeps objects outside of the cluster, as files NAMESPACE/RESOURCE.GROUP/NAME below a
// directory. It is the content client and the discovery of the second party's deleter. Its methods
// may be called from any goroutine.
type Storage struct{ root *os.Root }

// OpenStorage opens the storage in a directory. One that does not exist is an error: a storage
// without objects would release each namespace that the intended one holds.
func OpenStorage(directory string) (*Storage, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	return &Storage{root}, nil
}

// Close ends the use of the storage. The objects stay.
func (s *Storage) Close() error { return s.root.Close() }

// PreferredNamespacedResources returns the types of the second party, which are always the same.
func (s *Storage) PreferredNamespacedResources(context.Context, time.Time) ([]*api.APIResourceList, error) {
	var lists []*api.APIResourceList
	for _, gvr := range []api.GroupVersionResource{Builds, ImageStreams} {
		lists = append(lists, &api.APIResourceList{
			GroupVersion: api.GroupVersion{Group: gvr.Group, Version: gvr.Version}.String(),
			Resources: []api.APIResource{{Name: gvr.Resource, Namespaced: true,
				Verbs: []string{"delete", "deletecollection", "list"}}},
		})
	}
	return lists, nil
}

// Invalidate does nothing: the types never change.
func (s *Storage) Invalidate() {}

// List returns the objects of a type in a namespace.
func (s *Storage) List(_ context.Context, gvr api.GroupVersionResource,
	namespace string) ([]*api.PartialObjectMetadata, error) {
	entries, err := s.entries(collection(gvr, namespace))
	var objects []*api.PartialObjectMetadata
	for _, entry := range entries {
		objects = append(objects,
			&api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: entry.Name()}})
	}
	return objects, err
}

// Pages calls each with all objects of a type in a namespace.
func (s *Storage) Pages(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, each func([]*api.PartialObjectMetadata) error,
) error {
	found, err := s.List(ctx, gvr, namespace)
	if err != nil {
		return err
	}
	return each(found)
}

// Delete removes an object. One that does not exist is not an error.
func (s *Storage) Delete(
	_ context.Context, gvr api.GroupVersionResource, namespace string, object *api.PartialObjectMetadata,
) error {
	return s.root.RemoveAll(path.Join(collection(gvr, namespace), object.Name))
}

// DeleteCollection removes all objects of a type in a namespace. It returns what it found.
func (s *Storage) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource,
	namespace string) ([]*api.PartialObjectMetadata, bool, error) {
	found, err := s.List(ctx, gvr, namespace)
	if err == nil {
		err = s.root.RemoveAll(collection(gvr, namespace))
	}
	return found, err == nil, err
}

// Holders returns the names of the namespaces that hold objects of a type.
func (s *Storage) Holders(ctx context.Context, gvr api.GroupVersionResource) (map[string]bool, bool, error) {
	namespaces, err := s.entries(".")
	holders := map[string]bool{}
	for _, namespace := range namespaces {
		found, listErr := s.List(ctx, gvr, namespace.Name())
		err = errors.Join(err, listErr)
		if len(found) > 0 {
			holders[namespace.Name()] = true
		}
	}
	return holders, err == nil, err
}

// ListPods returns none: pods are the first party's.
func (s *Storage) ListPods(context.Context, string) ([]*api.Pod, error) { return nil, nil }

// entries returns what a directory holds: nothing if it does not exist.
func (s *Storage) entries(directory string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.root.FS(), directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

func collection(gvr api.GroupVersionResource, namespace string) string {
	return path.Join(namespace, gvr.GroupResource())
}
