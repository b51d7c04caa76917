package apiserver

import (
	"fmt"
	"net/http"
	"slices"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// serveResource finds the resource of the path and serves the verb.
func (x *exchange) serveResource() error {
	gvr := api.GroupVersionResource{Group: x.info.Group, Version: x.info.Version, Resource: x.info.Resource}
	def, ok := x.server.catalog.Lookup(gvr)
	if !ok {
		return x.serveUnknown(gvr.GroupVersion())
	}
	if def.IsReview() {
		return x.serveReview(def.Kind, def.Namespaced)
	}
	if len(x.info.Rest) > 0 || def.Namespaced != x.info.Scoped && (x.info.Scoped || x.info.Name != "") {
		return x.notServed(def.Group)
	}
	target := registry.Target{Definition: def, Name: x.info.Name, Subresource: x.info.Subresource}
	if def.Namespaced {
		target.Namespace = x.info.Namespace
	}
	if failed := x.readFault(target); failed != nil {
		return failed
	}
	switch {
	case x.info.LegacyWatch && x.info.Verb != "watch" || x.info.Verb == "watch" && x.info.Subresource != "":
		return resources.MethodNotAllowed()
	case x.info.Subresource != "":
		return x.serveSubresource(target)
	}
	return x.serveVerb(target)
}

// serveUnknown answers for an unknown resource.
func (x *exchange) serveUnknown(gv api.GroupVersion) error {
	if x.discovered().stale[resources.PathOf(gv)] {
		x.serviceUnavailable()
		return nil
	}
	return x.notServed(gv.Group)
}

// notServed answers for a path of a group that is not served. Only the servers of built-in groups
// answer with a Status; from plain text, clients make a message that names the request.
func (x *exchange) notServed(group string) error {
	if x.server.catalog.IsBuiltin(group) {
		return resources.ResourceNotFound()
	}
	x.notFoundText()
	return nil
}

// serveVerb negotiates the form of the answer and serves the verb.
func (x *exchange) serveVerb(t registry.Target) error {
	serve := x.verb(t)
	if serve == nil {
		return resources.MethodNotAllowed()
	}
	if err := x.negotiate(true); err != nil {
		return err
	}
	r := representation{def: t.Definition, of: t.Definition, form: x.form, include: x.query.Get("includeObject")}
	if t.Subresource == "scale" {
		r.def = resources.Scales()
	}
	return serve(t, r)
}

// verb returns what serves the verb, nil if the resource does not have it.
func (x *exchange) verb(t registry.Target) func(registry.Target, representation) error {
	verb, named := x.info.Verb, x.info.Name != ""
	switch {
	case x.r.Method == http.MethodHead || !t.Definition.HasVerb(verb):
	case t.Definition.Namespaced && t.Namespace == "" && x.r.Method != http.MethodGet:
	case verb == "watch":
		return x.serveWatch
	case verb == "list":
		return x.serveList
	case verb == "deletecollection":
		return x.serveDeleteCollection
	case verb == "create" && !named && t.Definition.HasVerb("get"):
		return x.serveCreate
	case verb == "get":
		return x.serveGet
	case verb == "update" && named:
		return x.serveUpdate
	case verb == "patch" && named:
		return x.servePatch
	case verb == "delete":
		return x.serveDelete
	}
	return nil
}

func (x *exchange) serveSubresource(t registry.Target) error {
	subresources := t.Definition.Subresources
	at := slices.IndexFunc(subresources, func(s resources.Subresource) bool { return s.Name == t.Subresource })
	switch {
	case at < 0:
		return resources.ResourceNotFound()
	case x.r.Method == http.MethodHead || !slices.Contains(subresources[at].Verbs, x.info.Verb):
		return resources.MethodNotAllowed()
	}
	switch t.Subresource {
	case "log", "exec", "attach", "portforward", "proxy", "ephemeralcontainers", "resize", "approval":
		return x.refuseSimulated(t)
	case "eviction":
		return x.serveEviction(t)
	case "binding":
		return x.serveBinding(t)
	case "token":
		return x.serveToken(t)
	}
	return x.serveVerb(t)
}

// serveEviction answers an eviction. Without disruption budgets it is a delete.
func (x *exchange) serveEviction(t registry.Target) error {
	eviction, parameters, err := x.readPosted(api.GroupVersionKind{Group: "policy", Version: "v1",
		Kind: "Eviction"}, nil)
	if err != nil {
		return err
	}
	options := api.DeleteOptions{DryRun: parameters.dryRun}
	if wanted, ok := eviction.Nested("deleteOptions").(map[string]any); ok {
		wire, err := optionsOf(wanted)
		if err == nil {
			options, err = wire.check()
		}
		if err != nil {
			return err
		}
		options.DryRun = options.DryRun || parameters.dryRun
	}
	t.Subresource = ""
	if _, _, err := x.server.registry.Delete(x.r.Context(), t, options,
		registry.WriteOptions{User: x.user.Name}); err != nil {
		return err
	}
	x.sendSuccess(http.StatusCreated)
	return nil
}

func (x *exchange) sendSuccess(code int) {
	x.sendDocument(code, encodeStatus(api.Status{Status: api.StatusSuccess, Code: code}))
}

// serveBinding assigns a pod to a node.
func (x *exchange) serveBinding(t registry.Target) error {
	binding, parameters, err := x.readPosted(api.GroupVersionKind{Version: "v1", Kind: "Binding"}, nil)
	if err != nil {
		return err
	}
	t.Subresource = ""
	node := binding.NestedString("target", "name")
	if err := x.server.registry.Bind(x.r.Context(), t, node, x.writeOptions(parameters)); err != nil {
		return err
	}
	x.sendSuccess(http.StatusCreated)
	return nil
}

// refuseSimulated refuses the subresources of a program that runs and of a certificate that is
// issued: there is none.
func (x *exchange) refuseSimulated(t registry.Target) error {
	subresource := t.Subresource
	t.Subresource = ""
	if _, err := x.server.registry.Get(t, api.GetOptions{}); err != nil {
		return err
	}
	return resources.ServiceUnavailable(
		fmt.Sprintf("%s %s is simulated and has no %s", t.Definition.Singular, t.Name, subresource))
}
