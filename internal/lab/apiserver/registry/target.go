package registry

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Target is what a request is about: the address of a collection, of an object, or of a part of it.
type Target struct {
	// Definition describes the resource, Version is the API version in the path.
	Definition *resources.Definition
	Version    string
	// Namespace is "" for objects of the cluster, and for a list of all namespaces. Name is "" for collections.
	Namespace, Name string
	// Subresource is "", "status", "finalize" or "scale".
	Subresource string
}

// Attributes describe a write to those who may object to it.
type Attributes struct {
	// Verb is create, update, patch or delete. The deletion of a collection asks for each object, with the verb delete.
	Verb string
	Target
	// User is who writes.
	User string
	// Object is the object as it would be stored, or as it would be deleted. It must not be changed.
	Object *api.Unstructured
}

// WriteOptions are what a request says about itself, whatever it writes.
type WriteOptions struct {
	// DryRun does everything but storing: the answer is the real one, but no version is consumed.
	DryRun bool
	// FieldManager is the name of the writing program. It is accepted and not kept: this server has no managed fields.
	FieldManager string
	// User is who writes.
	User string
	// Warn is told what is no reason to refuse the write; a repeated attempt may say it again. Nil: nothing is said.
	Warn func(sentences []string)

	// internal writes are the server's own: nobody is asked whether they are allowed.
	internal bool
}

func (w WriteOptions) warn(sentences []string) {
	if w.Warn != nil && len(sentences) > 0 {
		w.Warn(sentences)
	}
}

// in returns the namespace of the key: none for objects of the cluster.
func (t Target) in() string {
	if t.Definition.Namespaced {
		return t.Namespace
	}
	return ""
}

func (t Target) key() store.Key { return store.Key{Namespace: t.in(), Name: t.Name} }

// named returns the target with another name.
func (t Target) named(name string) Target {
	t.Name = name
	return t
}

// of returns the target that is the object itself.
func (t Target) of(o *store.Object) Target {
	t.Namespace, t.Name, t.Subresource = o.Key.Namespace, o.Key.Name, ""
	return t
}

func (t Target) notFound() error {
	return apierrors.NotFound(t.Definition.Group, t.Definition.Plural, t.Name)
}

// alreadyExists says that the name is taken, perhaps not for long.
func (t Target) alreadyExists(current *store.Object) error {
	err := apierrors.AlreadyExists(t.Definition.Group, t.Definition.Plural, t.Name)
	if current.Deleting {
		err.Status.Message = "object is being deleted: " + err.Status.Message
	}
	return err
}

func (t Target) conflict(reason string) error {
	return apierrors.Conflict(t.Definition.Group, t.Definition.Plural, t.Name, reason)
}

// invalid returns nil if there are no errors.
func (t Target) invalid(errs []apierrors.FieldError) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.Invalid(t.Definition.InvalidGroup(), t.Definition.Kind, t.Name, errs)
}
