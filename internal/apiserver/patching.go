package apiserver

import (
	"mime"
	"net/http"
	"strings"

	"orrery/internal/apiserver/apierrors"
	"orrery/internal/apiserver/negotiation"
	"orrery/internal/apiserver/patch"
	"orrery/internal/apiserver/registry"
	"orrery/internal/apiserver/resources"
	"orrery/internal/apiserver/schema"
	"orrery/restclient/api"
)

// servePatch answers a patch of an object or its status.
func (x *exchange) servePatch(t registry.Target) error {
	kind, err := x.patchType(t.Definition)
	if err != nil {
		return err
	}
	r, err := x.represent(t.Definition, negotiation.Rules{})
	if err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "PatchOptions")
	if err != nil {
		return err
	}
	data, err := x.readBody()
	if err != nil {
		return err
	}
	patched, err := x.server.registry.Patch(x.r.Context(), t, x.change(t.Definition, kind, data, parameters), x.writeOptions(parameters))
	if err != nil {
		return err
	}
	return x.sendObject(http.StatusOK, r, patched)
}

// patchType reads the content type of a patch.
func (x *exchange) patchType(def *resources.Definition) (api.PatchType, error) {
	mediaType, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	kind := api.PatchType(mediaType)
	switch {
	case err != nil:
	case kind == api.JSONPatchType || kind == api.MergePatchType || kind == api.StrategicMergePatchType && !def.Custom:
		return kind, nil
	case kind == api.ApplyPatchType || kind == "application/apply-patch+cbor":
		return "", apierrors.UnsupportedMediaType(noApply)
	}
	if def.Custom {
		return "", apierrors.UnsupportedMediaType(customPatchTypes)
	}
	return "", withDetails(apierrors.UnsupportedMediaType(patchTypes))
}

const (
	noApply          = "server-side apply is not built into this server: use a merge patch, a strategic merge patch or a JSON patch (kubectl apply without --server-side)"
	customPatchTypes = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json"
)

// change is what a patch does to an object. It is called again when somebody else was faster.
func (x *exchange) change(def *resources.Definition, kind api.PatchType, data []byte, parameters writeParameters) func(*api.Unstructured) (*api.Unstructured, error) {
	t := typeOf(def)
	want := kindOfResource(def)
	warned := false
	return func(current *api.Unstructured) (*api.Unstructured, error) {
		tree, err := patch.Apply(kind, current.Object, data, t)
		if err != nil {
			return nil, err
		}
		validation := parameters.validation
		if validation == warnOfFields && warned {
			validation = ignoreFields
		}
		warned = true
		if err := x.checkPatched(tree, data, kind, want, t, validation); err != nil {
			return nil, err
		}
		return &api.Unstructured{Object: tree}, nil
	}
}

// checkPatched looks at what a patch has made. A patch can change neither kind nor version.
func (x *exchange) checkPatched(tree map[string]any, data []byte, kind api.PatchType, want api.GroupVersionKind, t *schema.Type, validation fieldValidation) error {
	document := api.Unstructured{Object: tree}
	if document.GetKind() != want.Kind || document.GetAPIVersion() != gvOf(want).String() {
		return apierrors.BadRequest(strings.Join([]string{
			document.GetKind(), " in version \"", document.GetAPIVersion(), "\" cannot be handled as a ", want.Kind,
			": the patch must not change kind or apiVersion"}, ""))
	}
	if kind == api.JSONPatchType {
		data = nil // a list of operations has no fields of the object
	}
	return x.checkFields(tree, data, want, t, validation)
}
