package restclient

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"orrery/restclient/api"
)

// Resource is a collection on a server, such as the pods of a namespace, with the verbs that
// Kubernetes has for it. T is the type of its objects. It is small, immutable, and may be used by
// any number of goroutines.
//
//	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
//	ns, err := namespaces.Get(ctx, "default", api.GetOptions{})
//
// It satisfies reflector.ListerWatcher. Errors are those of Client.Do, and *NameError for a name
// that cannot be part of a path.
type Resource[T Object] struct {
	client    *Client
	gvr       api.GroupVersionResource
	namespace string
	decoder   Decoder[T]
	readOnly  bool // objects are incomplete: writing them back would drop the rest
}

// Typed returns a resource whose objects are decoded into T, a pointer to a struct with JSON tags,
// such as *api.Namespace. namespace "" means the whole cluster; for namespaced resources, all
// namespaces.
func Typed[T Object](c *Client, gvr api.GroupVersionResource, namespace string) *Resource[T] {
	return &Resource[T]{client: c, gvr: gvr, namespace: namespace, decoder: &plainDecoder[T]{}}
}

// Metadata returns a resource of which only the metadata is fetched, which costs server, network
// and memory much less. Managed fields are omitted: only writing back needs them, which is refused.
// With Config.Codec, objects of one list or watch may share parts, such as maps of labels: make a
// DeepCopy before you change one.
func Metadata(c *Client, gvr api.GroupVersionResource, namespace string) *Resource[*api.PartialObjectMetadata] {
	return &Resource[*api.PartialObjectMetadata]{
		client: c, gvr: gvr, namespace: namespace, decoder: c.cfg.Codec, readOnly: true,
	}
}

// Dynamic returns a resource whose objects are whole JSON documents of any type.
func Dynamic(c *Client, gvr api.GroupVersionResource, namespace string) *Resource[*api.Unstructured] {
	decoder := &plainDecoder[*api.Unstructured]{complete: nameKind}
	return &Resource[*api.Unstructured]{client: c, gvr: gvr, namespace: namespace, decoder: decoder}
}

// InNamespace returns the same resource in another namespace; "" means all namespaces.
func (r *Resource[T]) InNamespace(namespace string) *Resource[T] {
	other := *r
	other.namespace = namespace
	return &other
}

// GroupVersionResource returns the resource's name.
func (r *Resource[T]) GroupVersionResource() api.GroupVersionResource { return r.gvr }

// ErrReadOnly is returned by Create and the updates of a Metadata resource.
var ErrReadOnly = errors.New("objects of which only the metadata was fetched cannot be written back; use a patch")

// NameError reports a name that cannot be part of a URL's path.
type NameError struct {
	What    string // "name", "namespace", "group", "version", "resource", "subresource"
	Name    string
	Problem string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("the %s %q %s", e.What, api.CutText(e.Name), e.Problem)
}

// request returns a request for one object, or for the collection if name is empty.
func (r *Resource[T]) request(verb, method, namespace, name string, subresources ...string) (Request, error) {
	if namespace == "" {
		namespace = r.namespace
	}
	path, err := r.path(namespace, name, subresources)
	if err != nil {
		return Request{}, err
	}
	return Request{
		Verb:   method,
		Path:   path,
		Accept: r.accept(partialMediaType),
		about: RequestInfo{
			Verb: verb, Resource: r.gvr, Namespace: namespace, Name: name,
			Subresource: strings.Join(subresources, "/"),
		},
	}, nil
}

// Media types for metadata only. A server that does not know them returns whole objects, of which
// the rest is dropped.
const (
	partialMediaType     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	partialListMediaType = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// accept returns the Accept header of a request, given that of a Metadata resource.
func (r *Resource[T]) accept(metadata string) string {
	if r.readOnly {
		return metadata
	}
	return jsonMediaType
}

// objectRequest returns a request for one object; the name must not be empty.
func (r *Resource[T]) objectRequest(verb, method, namespace, name string, subresources ...string) (Request, error) {
	if name == "" {
		return Request{}, &NameError{What: "name", Problem: "is empty, but the verb needs one object"}
	}
	return r.request(verb, method, namespace, name, subresources...)
}

// path returns the path of an object, or of the collection if name is empty.
func (r *Resource[T]) path(namespace, name string, subresources []string) (string, error) {
	path, err := VersionPath(r.gvr.GroupVersion())
	add := func(what, name string) {
		if err == nil {
			path, err = below(path, what, name)
		}
	}
	if namespace != "" {
		path += "/namespaces"
		add("namespace", namespace)
	}
	add("resource", r.gvr.Resource)
	if name != "" {
		add("name", name)
	}
	for _, subresource := range subresources {
		add("subresource", subresource)
	}
	return path, err
}

// VersionPath returns the path of a group version: "/api/v1" or "/apis/apps/v1". Its error is a
// [*NameError].
func VersionPath(gv api.GroupVersion) (path string, err error) {
	path = "/api"
	if gv.Group != "" {
		path, err = below("/apis", "group", gv.Group)
	}
	if err != nil {
		return "", err
	}
	return below(path, "version", gv.Version)
}

// below returns the path of something with that name below another path.
func below(path, what, name string) (string, error) {
	if err := checkName(what, name); err != nil {
		return "", err
	}
	return path + "/" + url.PathEscape(name), nil
}

// checkName returns a [*NameError] for a name that a server or proxy could take for something other
// than one segment of a path. A server's discovery can name any resource: the objects of
// "../../v1/secrets" would be those of the core group.
func checkName(what, name string) error {
	switch {
	case name == "":
		return &NameError{What: what, Name: name, Problem: "is empty"}
	case name == "." || name == "..":
		return &NameError{What: what, Name: name, Problem: "means a directory"}
	case strings.ContainsAny(name, "/%"):
		return &NameError{What: what, Name: name, Problem: "contains '/' or '%'"}
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return &NameError{What: what, Name: name, Problem: "contains a control character or is not UTF-8"}
	}
	return nil
}
