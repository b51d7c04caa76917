package apiserver

import (
	"mime"
	"net/http"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

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
