package apiserver

import (
	"context"
	"mime"
	"net/http"
	"strings"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

func (x *exchange) writeOptions(p writeParameters) registry.WriteOptions {
	manager := p.manager
	if manager == "" {
		manager, _, _ = strings.Cut(x.r.UserAgent(), "/")
	}
	return registry.WriteOptions{DryRun: p.dryRun, FieldManager: manager, User: x.user.Name, Warn: x.warn}
}

// readPosted reads the query and the object of a POST to a subresource.
func (x *exchange) readPosted(kind api.GroupVersionKind,
	t *resources.Type) (*api.Unstructured, writeParameters, error) {
	if err := x.negotiate(false); err != nil {
		return nil, writeParameters{}, err
	}
	parameters, err := writeOptions(x.query, "CreateOptions")
	if err != nil {
		return nil, parameters, err
	}
	object, err := x.readObject(kind, t, false, parameters.validation)
	return object, parameters, err
}

func (x *exchange) serveCreate(t registry.Target, r representation) error {
	return x.serveWrite(t, r, "CreateOptions", http.StatusCreated, x.server.registry.Create)
}

func (x *exchange) serveUpdate(t registry.Target, r representation) error {
	return x.serveWrite(t, r, "UpdateOptions", http.StatusOK, x.server.registry.Update)
}

// serveWrite writes the object in the body and answers with the stored one.
func (x *exchange) serveWrite(t registry.Target, r representation, options string, code int,
	write func(context.Context, registry.Target, *api.Unstructured, registry.WriteOptions) (*store.Object, error),
) error {
	parameters, err := writeOptions(x.query, options)
	if err != nil {
		return err
	}
	object, err := x.readObject(r.def.GVK(), r.def.Type, r.def.Custom, parameters.validation)
	if err != nil {
		return err
	}
	written, err := write(x.r.Context(), t, object, x.writeOptions(parameters))
	if err != nil {
		return err
	}
	return x.sendObject(code, r, written)
}

func (x *exchange) serveGet(t registry.Target, r representation) error {
	object, err := x.server.registry.Get(t, api.GetOptions{ResourceVersion: x.query.Get("resourceVersion")})
	if err != nil {
		return err
	}
	return x.sendObject(http.StatusOK, r, object)
}

// sendObject answers with an object in the negotiated form.
func (x *exchange) sendObject(code int, r representation, object *store.Object) error {
	if r.form.As == asMetadataList {
		return resources.NotAcceptable(
			"you requested PartialObjectMetadataList, but the requested object is not a list")
	}
	if r.def == resources.Scales() {
		object = store.Preview(store.Draft{Object: r.of.ScaleOf(object.Decode())}, object.Version)
	}
	x.sendDocument(code, r.appendObject(nil, object))
	return nil
}

func (x *exchange) servePatch(t registry.Target, r representation) error {
	kind, err := x.patchType(t.Definition)
	if err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "PatchOptions")
	if err != nil {
		return err
	}
	if x.query.Has("force") {
		return resources.Invalid("meta.k8s.io", "PatchOptions", "", resources.Wrong(resources.FieldForbidden,
			"force", nil, "may not be specified for non-apply patch"))
	}
	data, err := x.readBody()
	if err != nil {
		return err
	}
	change := x.change(r.def, kind, data, parameters)
	patched, err := x.server.registry.Patch(x.r.Context(), t, change, x.writeOptions(parameters))
	if err != nil {
		return err
	}
	return x.sendObject(http.StatusOK, r, patched)
}

// patchType parses the content type of a patch.
func (x *exchange) patchType(def *resources.Definition) (api.PatchType, error) {
	mediaType, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil {
		mediaType = ""
	}
	kind := api.PatchType(mediaType)
	return kind, resources.SupportedPatch(kind, def.Custom)
}

// change returns the function that applies a patch. It is called again after a conflict.
func (x *exchange) change(def *resources.Definition, kind api.PatchType, data []byte,
	parameters writeParameters) func(*api.Unstructured) (*api.Unstructured, error) {
	merged := def.Type
	if def.Custom { // they have no strategic merge patch
		merged = nil
	}
	want := def.GVK()
	return func(current *api.Unstructured) (*api.Unstructured, error) {
		tree, err := resources.ApplyPatch(kind, current.Object, data, merged)
		if err != nil {
			return nil, err
		}
		cannot := func(problem string) error { return resources.RefusePatch(tree, problem) }
		changed := &api.Unstructured{Object: tree}
		if changed.GetKind() != want.Kind || changed.GetAPIVersion() != gvOf(want).String() {
			return nil, cannot(otherKind(changed.GetAPIVersion(), changed.GetKind(), want))
		}
		return changed, x.checkFields(tree, def.Type, parameters.validation, cannot)
	}
}
