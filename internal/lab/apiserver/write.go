package apiserver

import (
	"net/http"
	"strings"

	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// readFor reads the object in the body for a write to the resource.
func (x *exchange) readFor(def *resources.Definition, validation fieldValidation) (*api.Unstructured, error) {
	return x.readObject(kindOfResource(def), def.Type, def.Custom, validation)
}

func (x *exchange) writeOptions(p writeParameters) registry.WriteOptions {
	manager := p.manager
	if manager == "" {
		manager, _, _ = strings.Cut(x.r.UserAgent(), "/")
	}
	return registry.WriteOptions{DryRun: p.dryRun, FieldManager: manager, User: x.user.Name, Warn: x.warn}
}

// serveCreate answers a create.
func (x *exchange) serveCreate(t registry.Target) error {
	r, err := x.represent(t.Definition, negotiation.Rules{})
	if err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "CreateOptions")
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

// serveUpdate answers an update of an object, its status, or its finalizers.
func (x *exchange) serveUpdate(t registry.Target) error {
	r, err := x.represent(t.Definition, negotiation.Rules{})
	if err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "UpdateOptions")
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
