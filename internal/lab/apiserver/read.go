package apiserver

import (
	"fmt"
	"net/http"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// represent agrees on how objects of a resource are sent.
func (x *exchange) represent(def *resources.Definition, rules negotiation.Rules) (representation, error) {
	rules.Convert, rules.Custom = true, def.Custom
	if err := x.negotiate(rules); err != nil {
		return representation{}, err
	}
	include := x.query.Get("includeObject")
	switch include {
	case "", "Metadata", "Object", "None":
	default:
		if x.form.As == negotiation.Table {
			return representation{}, apierrors.BadRequest("Unable to convert to Table as requested: " + apierrors.FieldError{
				Type: apierrors.FieldInvalid, Field: "includeObject", Value: include, Detail: "must be 'Metadata', 'Object', 'None', or empty",
			}.Error())
		}
	}
	return representation{def: def, form: x.form, include: include}, nil
}

// serveGet answers a get, of an object or its status.
func (x *exchange) serveGet(t registry.Target) error {
	r, err := x.represent(t.Definition, negotiation.Rules{})
	if err != nil {
		return err
	}
	object, err := x.server.registry.Get(t, api.GetOptions{ResourceVersion: x.query.Get("resourceVersion")})
	if err != nil {
		return err
	}
	return x.sendObject(http.StatusOK, r, object)
}

// sendObject answers with an object in the form that was agreed on.
func (x *exchange) sendObject(code int, r representation, object *store.Object) error {
	if r.form.As == negotiation.PartialObjectMetadataList {
		return notAcceptable(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", internalType(r.def, false)))
	}
	x.sendDocument(code, r.appendObject(nil, object))
	return nil
}
