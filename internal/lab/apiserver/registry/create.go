package registry

import (
	"context"
	"errors"
	"strconv"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Create stores a new object and takes ownership of o. Without a name the object gets one that
// starts with metadata.generateName.
//
// The checks run in this order: the namespace in the path (400), the namespace exists (404) and is
// not terminating (403), validation (422), admission, and the name is free (409).
func (r *Registry) Create(ctx context.Context, t Target, o *api.Unstructured, w WriteOptions) (*store.Object, error) {
	if err := t.sameNamespace(o); err != nil {
		return nil, err
	}
	base := o.NestedString("metadata", "generateName")
	switch {
	case o.GetName() != "":
		return r.create(ctx, t.named(o.GetName()), o, w)
	case base == "":
		if err := r.mayCreate(t.named("Unknown")); err != nil {
			return nil, err
		}
		return r.create(ctx, t.named(""), o, w)
	}
	if err := r.mayCreate(t.named(base)); err != nil {
		return nil, err // before a name is generated
	}
	name := generateName(base)
	metadataOf(o)["name"] = name
	return r.create(ctx, t.named(name), o, w)
}

// create stores o under the name of the target.
func (r *Registry) create(ctx context.Context, t Target, o *api.Unstructured, w WriteOptions) (*store.Object, error) {
	guard := r.guard(t)
	if w.Intrusive {
		guard = nil
	} else if err := r.mayCreate(t); err != nil {
		return nil, err
	}
	prepareCreate(t, o, w)
	errs := resources.ObjectMetaValidation(t.Definition, o)
	if validate := t.Definition.Strategy.Validate; validate != nil {
		errs = append(errs, validate(o)...)
	}
	if err := t.invalid(errs); err != nil {
		return nil, err
	}
	w.warn(resources.Warnings(t.Definition, o, nil))
	if err := r.admitted(ctx, "create", t, w, o); err != nil {
		return nil, err
	}
	version, _ := parseVersion(o.GetResourceVersion()) // an invalid one counts as none
	draft := store.Draft{Object: o, Fields: t.Definition.FieldsOf(o)}
	if w.DryRun { // a dry run accepts a resourceVersion and returns it
		if current, taken := r.collection(t).Get(t.key()); taken {
			return nil, t.alreadyExists(current)
		}
		return store.Preview(draft, version), nil
	}
	if version != 0 {
		return nil, resources.Unclassified("resourceVersion should not be set on objects to be created")
	}
	created, err := r.collection(t).Create(draft, guard)
	if taken, ok := errors.AsType[*store.ExistsError](err); ok {
		return nil, t.alreadyExists(taken.Current)
	}
	if err != nil {
		return nil, r.storeError(t, err)
	}
	r.written(t, created)
	return created, nil
}

// prepareCreate sets the server's fields and the defaults, and drops what clients may not set.
func prepareCreate(t Target, o *api.Unstructured, w WriteOptions) {
	d, metadata := t.Definition, metadataOf(o)
	delete(metadata, "selfLink")
	delete(metadata, "deletionTimestamp")
	delete(metadata, "deletionGracePeriodSeconds")
	metadata["uid"] = newUID()
	metadata["creationTimestamp"] = timestamp(time.Now())
	toStorage(d, o)
	if d.Strategy.Default != nil {
		d.Strategy.Default(o)
	}
	w.setManagers(t, o, &api.Unstructured{}) // before the server's own changes
	if d.Strategy.PrepareCreate != nil {
		d.Strategy.PrepareCreate(o)
	}
}

func toStorage(d *resources.Definition, o *api.Unstructured) {
	if d.ToStorage != nil {
		d.ToStorage(o)
	}
}

// parseVersion parses the resourceVersion of an object in a request; "" is 0.
func parseVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, resources.Unclassified(err.Error())
	}
	return version, nil
}

// Bind assigns a pod to a node (the subresource binding). A pod is bound only once.
func (r *Registry) Bind(ctx context.Context, t Target, node string, w WriteOptions) error {
	for {
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return t.notFound()
		}
		pod := old.Decode()
		if err := bindable(t, pod, node); err != nil {
			return err
		}
		if err := pod.SetNested(node, "spec", "nodeName"); err != nil {
			return resources.InternalError(err)
		}
		SetCondition(pod, "PodScheduled", api.ConditionTrue, "", "")
		binding := t
		binding.Subresource = "binding"
		if err := r.admitted(ctx, "create", binding, w, pod); err != nil {
			return err
		}
		if _, err := r.replace(t, old, pod, w); err != errOvertaken {
			return err
		}
	}
}

// bindable returns why the pod cannot be assigned to the node, or nil.
func bindable(t Target, pod *api.Unstructured, node string) error {
	conflict := func(why string) error {
		return resources.Conflict(t.Definition.Group, t.Definition.Plural+"/binding", t.Name, "pod "+t.Name+" "+why)
	}
	assigned := pod.NestedString("spec", "nodeName")
	gates, _ := pod.Nested("spec", "schedulingGates").([]any)
	switch {
	case node == "":
		required := resources.FieldError{Type: resources.FieldRequired, Field: "target.name"}
		return resources.Invalid("", "Binding", t.Name, []resources.FieldError{required})
	case pod.GetDeletionTimestamp() != nil:
		return conflict("is being deleted, cannot be assigned to a host")
	case assigned != "":
		return conflict(`is already assigned to node "` + assigned + `"`)
	case len(gates) > 0:
		return conflict("has non-empty .spec.schedulingGates")
	}
	return nil
}
