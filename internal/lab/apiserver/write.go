package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	"orrery/internal/lab/apiserver/meta"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// readFor reads the object in the body of a write.
func (x *exchange) readFor(def *resources.Definition, validation fieldValidation) (*api.Unstructured, error) {
	return x.readObject(def.GVK(), def.Type, def.Custom, validation)
}

func (x *exchange) writeOptions(p writeParameters) registry.WriteOptions {
	manager := p.manager
	if manager == "" {
		manager, _, _ = strings.Cut(x.r.UserAgent(), "/")
	}
	return registry.WriteOptions{DryRun: p.dryRun, FieldManager: manager, User: x.user.Name, Groups: x.user.Groups, Warn: x.warn}
}

// beginWrite negotiates the answer and parses the query of a write. kind names the options in
// errors.
func (x *exchange) beginWrite(def *resources.Definition, kind string) (representation, writeParameters, error) {
	r, err := x.represent(def, formRules{})
	if err != nil {
		return r, writeParameters{}, err
	}
	parameters, err := writeOptions(x.query, kind)
	return r, parameters, err
}

// readPosted reads the query and the object of a POST to a subresource.
func (x *exchange) readPosted(kind api.GroupVersionKind, t *resources.Type) (*api.Unstructured, writeParameters, error) {
	if err := x.negotiate(formRules{}); err != nil {
		return nil, writeParameters{}, err
	}
	parameters, err := writeOptions(x.query, "CreateOptions")
	if err != nil {
		return nil, parameters, err
	}
	object, err := x.readObject(kind, t, false, parameters.validation)
	return object, parameters, err
}

func (x *exchange) serveCreate(t registry.Target) error {
	r, parameters, err := x.beginWrite(t.Definition, "CreateOptions")
	if err != nil {
		return err
	}
	object, err := x.readFor(t.Definition, parameters.validation)
	if err != nil {
		return err
	}
	created, err := x.server.registry.Create(x.r.Context(), t, object, x.writeOptions(parameters))
	if err != nil {
		return err
	}
	return x.sendObject(http.StatusCreated, r, created)
}

func (x *exchange) serveUpdate(t registry.Target) error {
	r, parameters, err := x.beginWrite(t.Definition, "UpdateOptions")
	if err != nil {
		return err
	}
	object, err := x.readFor(t.Definition, parameters.validation)
	if err != nil {
		return err
	}
	updated, created, err := x.server.registry.Update(x.r.Context(), t, object, x.writeOptions(parameters))
	if err != nil {
		return err
	}
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	return x.sendObject(code, r, updated)
}

// represent negotiates how objects of a resource are sent.
func (x *exchange) represent(def *resources.Definition, rules formRules) (representation, error) {
	rules.Convert, rules.Custom = true, def.Custom
	if err := x.negotiate(rules); err != nil {
		return representation{}, err
	}
	include := x.query.Get("includeObject")
	switch include {
	case "", "Metadata", "Object", "None":
	default:
		if x.form.As == asTable {
			return representation{}, meta.BadRequest("Unable to convert to Table as requested: " + meta.FieldError{
				Type: meta.FieldInvalid, Field: "includeObject", Value: include,
				Detail: "must be 'Metadata', 'Object', 'None', or empty",
			}.Error())
		}
	}
	return representation{def: def, form: x.form, include: include}, nil
}

func (x *exchange) serveGet(t registry.Target) error {
	r, err := x.represent(t.Definition, formRules{})
	if err != nil {
		return err
	}
	object, err := x.server.registry.Get(t, api.GetOptions{ResourceVersion: x.query.Get("resourceVersion")})
	if err != nil {
		return err
	}
	return x.sendObject(http.StatusOK, r, object)
}

// sendObject answers with an object in the negotiated form.
func (x *exchange) sendObject(code int, r representation, object *store.Object) error {
	if r.form.As == asMetadataList {
		return notAcceptable(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", internalType(r.def, false)))
	}
	x.sendDocument(code, r.appendObject(nil, object))
	return nil
}
