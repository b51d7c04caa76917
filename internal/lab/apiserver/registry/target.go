package registry

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Target addresses a collection, an object, or a subresource of an object.
type Target struct {
	// Definition describes the resource, in the API version of the path.
	Definition *resources.Definition
	// Namespace is "" for cluster-scoped objects and for lists of all namespaces. Name is "" for
	// collections.
	Namespace, Name string
	// Subresource is "", "status", "finalize" or "scale".
	Subresource string
}

// Attributes describe a write to the admission hook.
type Attributes struct {
	// Verb is create, update, patch or delete. A deletecollection asks once per object, with the
	// verb delete.
	Verb string
	Target
	User string
	// Object is the object as it would be stored or deleted. It must not be changed.
	Object *api.Unstructured
	// Collection reports that the delete is part of a deletecollection, whose request has no name.
	Collection bool
}

// WriteOptions are the options common to all writes.
type WriteOptions struct {
	// DryRun does everything but store the object: it consumes no version.
	DryRun bool
	// FieldManager is the client's name in metadata.managedFields; "" means "unknown".
	FieldManager string
	// User is the author of the write.
	User string
	// Warn receives warnings. It may be called again with the same text when a write is retried.
	// Nil drops them.
	Warn func(sentences []string)

	// Intrusive creates objects in a terminating namespace, as if admission did not run.
	Intrusive bool

	// collection marks the deletes of a deletecollection.
	collection bool
	// internal marks the server's own writes, which skip admission.
	internal bool
}

func (w WriteOptions) warn(sentences []string) {
	if w.Warn != nil && len(sentences) > 0 {
		w.Warn(sentences)
	}
}

// in returns the namespace of the key, "" for cluster-scoped objects.
func (t Target) in() string {
	if t.Definition.Namespaced {
		return t.Namespace
	}
	return ""
}

func (t Target) key() store.Key { return store.Key{Namespace: t.in(), Name: t.Name} }

func (t Target) named(name string) Target {
	t.Name = name
	return t
}

// of returns the target of the object itself.
func (t Target) of(o *store.Object) Target {
	t.Namespace, t.Name, t.Subresource = o.Key.Namespace, o.Key.Name, ""
	return t
}

func (t Target) notFound() error {
	return resources.NotFound(t.Definition.Group, t.Definition.Plural, t.Name)
}

// alreadyExists returns the 409 of a create whose name is taken.
func (t Target) alreadyExists(current *store.Object) error {
	err := resources.AlreadyExists(t.Definition.Group, t.Definition.Plural, t.Name)
	if current.Deleting {
		err.Status.Message = "object is being deleted: " + err.Status.Message
	}
	return err
}

func (t Target) conflict(reason string) error {
	return resources.Conflict(t.Definition.Group, t.Definition.Plural, t.Name, reason)
}

// invalid returns nil if there are no errors.
func (t Target) invalid(errs []resources.FieldError) error {
	if len(errs) == 0 {
		return nil
	}
	return resources.Invalid(t.Definition.InvalidGroup(), t.Definition.Kind, t.Name, errs)
}

// metadataOf returns the metadata of an object to be changed in place, adding it if necessary.
func metadataOf(o *api.Unstructured) map[string]any {
	if o.Object == nil {
		o.Object = map[string]any{}
	}
	metadata, ok := o.Object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		o.Object["metadata"] = metadata
	}
	return metadata
}

// timestamp formats a time as objects store it: UTC, whole seconds.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// newUID returns a random UUID (version 4).
func newUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// maximalBase is how much of metadata.generateName is used: with the suffix it is a DNS label.
const maximalBase = 63 - 5

func generateName(base string) string {
	return base[:min(len(base), maximalBase)] + strings.ToLower(rand.Text()[:5])
}

// sameNamespace fills in the namespace of the path, or refuses an object with another one.
func (t Target) sameNamespace(o *api.Unstructured) error {
	metadata := metadataOf(o)
	if !t.Definition.Namespaced {
		delete(metadata, "namespace")
		return nil
	}
	switch named, _ := metadata["namespace"].(string); named {
	case t.Namespace:
	case "":
		metadata["namespace"] = t.Namespace
	default:
		return resources.BadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// sameName refuses an object with another name than the one in the path.
func (t Target) sameName(o *api.Unstructured) error {
	switch name := o.GetName(); name {
	case t.Name:
		return nil
	case "":
		return resources.BadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", t.Name))
	default:
		return resources.BadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", name, t.Name))
	}
}

// carry copies a field from old, or removes it if old has none.
func carry(metadata, old map[string]any, field string) {
	if value, ok := old[field]; ok {
		metadata[field] = value
	} else {
		delete(metadata, field)
	}
}
