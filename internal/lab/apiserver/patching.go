package apiserver

import (
	"mime"
	"net/http"

	"orrery/internal/lab/apiserver/meta"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func (x *exchange) servePatch(t registry.Target) error {
	kind, err := x.patchType(t.Definition)
	if err != nil {
		return err
	}
	r, parameters, err := x.beginWrite(t.Definition, "PatchOptions")
	if err != nil {
		return err
	}
	if x.query.Has("force") {
		return meta.Invalid("meta.k8s.io", "PatchOptions", "", []meta.FieldError{{
			Type: meta.FieldForbidden, Field: "force", Detail: "may not be specified for non-apply patch",
		}})
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
func (x *exchange) change(def *resources.Definition, kind api.PatchType, data []byte, parameters writeParameters) func(*api.Unstructured) (*api.Unstructured, error) {
	var merged *resources.Type // nil for custom resources, which have no strategic merge patch
	if !def.Custom {
		merged = def.Type
	}
	want := def.GVK()
	warned := false
	return func(current *api.Unstructured) (*api.Unstructured, error) {
		tree, err := resources.ApplyPatch(kind, current.Object, data, merged)
		if err != nil {
			return nil, err
		}
		if err := x.checkPatched(tree, data, kind, want, def.Type, parameters.validation, !warned); err != nil {
			return nil, err
		}
		warned = true
		return &api.Unstructured{Object: tree}, nil
	}
}

// checkPatched validates the result of a patch, which may not change kind or apiVersion.
func (x *exchange) checkPatched(tree map[string]any, data []byte, kind api.PatchType, want api.GroupVersionKind, t *resources.Type, validation fieldValidation, warn bool) error {
	document := api.Unstructured{Object: tree}
	doc := incoming{kind: document.GetKind(), apiVersion: document.GetAPIVersion(), data: data}
	if doc.kind != want.Kind || doc.apiVersion != gvOf(want).String() {
		return resources.RefusePatch(kind, data, tree, x.otherKind(tree, doc, want))
	}
	problems, misfit := findings(tree, doc, t)
	switch {
	case misfit != nil:
		return resources.RefusePatch(kind, data, tree, misfit.Error())
	case len(problems) > 0 && validation == strictFields:
		return resources.RefusePatch(kind, data, tree, strictSentence(problems))
	case validation == warnOfFields && warn:
		x.warn(problems)
	}
	t.Prune(tree)
	return nil
}

// otherKind explains the refusal of a patch that changes the kind. kube-apiserver first decodes the
// result as the new kind.
func (x *exchange) otherKind(tree map[string]any, doc incoming, want api.GroupVersionKind) string {
	gv, _ := api.ParseGroupVersion(doc.apiVersion)
	t, _ := resources.Builtin().Type(api.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: doc.kind})
	if misfit := t.Check(tree).TypeError; misfit != nil {
		return misfit.Error()
	}
	return x.kindMismatch(doc.kind, doc.apiVersion, want)
}
