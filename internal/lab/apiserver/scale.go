package apiserver

import (
	"net/http"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/patch"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/schema"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

var scaleKind = api.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// serveScale serves the subresource scale, which is the same for all types.
func (x *exchange) serveScale(t registry.Target) error {
	if x.r.Method != http.MethodGet {
		return x.changeScale(t)
	}
	r, err := x.represent(resources.Scales(), negotiation.Rules{})
	if err != nil {
		return err
	}
	t.Subresource = ""
	object, err := x.server.registry.Get(t, api.GetOptions{ResourceVersion: x.query.Get("resourceVersion")})
	if err != nil {
		return err
	}
	return x.sendScale(r, t, object)
}

// sendScale answers with the scale of an object.
func (x *exchange) sendScale(r representation, t registry.Target, object *store.Object) error {
	scale, err := store.Preview(store.Draft{Object: t.Definition.ScaleOf(object.Decode())}, object.Version)
	if err != nil {
		return err
	}
	return x.sendObject(http.StatusOK, r, scale)
}

// changeScale applies a scale, or a patch of one.
func (x *exchange) changeScale(t registry.Target) error {
	var kind api.PatchType
	if x.r.Method == http.MethodPatch {
		var err error
		if kind, err = x.patchType(t.Definition); err != nil {
			return err
		}
	}
	r, parameters, err := x.beginWrite(resources.Scales(), "UpdateOptions")
	if err != nil {
		return err
	}
	scaleType, _ := schema.Builtin().Type(scaleKind)
	var wanted *api.Unstructured
	var data []byte
	if kind == "" {
		wanted, err = x.readObject(scaleKind, scaleType, false, parameters.validation)
	} else {
		data, err = x.readBody()
	}
	if err != nil {
		return err
	}
	var changed *store.Object
	if kind == "" {
		if err := checkScale(wanted, t.Name); err != nil {
			return err
		}
		changed, _, err = x.server.registry.Update(x.r.Context(), t, wanted, x.writeOptions(parameters))
	} else {
		changed, err = x.server.registry.Patch(x.r.Context(), t, func(current *api.Unstructured) (*api.Unstructured, error) {
			tree, err := patch.Apply(kind, current.Object, data, scaleType)
			if err != nil {
				return nil, err
			}
			scale := &api.Unstructured{Object: tree}
			return scale, checkScale(scale, t.Name)
		}, x.writeOptions(parameters))
	}
	if err != nil {
		return err
	}
	return x.sendScale(r, t, changed)
}

func checkScale(scale *api.Unstructured, name string) error {
	if scale.NestedInt64("spec", "replicas") >= 0 {
		return nil
	}
	return apierrors.Invalid(scaleKind.Group, scaleKind.Kind, name, []apierrors.FieldError{{
		Type: apierrors.FieldInvalid, Field: "spec.replicas", Value: scale.Nested("spec", "replicas"), Detail: "must be greater than or equal to 0",
	}})
}
