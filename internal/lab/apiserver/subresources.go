package apiserver

import (
	"fmt"
	"net/http"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

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
		registry.WriteOptions{DryRun: options.DryRun, User: x.user.Name}); err != nil {
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

// serveLog serves the log of a container, which has a fixed line. The default is the first one.
func (x *exchange) serveLog(t registry.Target) error {
	t.Subresource = ""
	object, err := x.server.registry.Get(t, api.GetOptions{})
	if err != nil {
		return err
	}
	container := x.query.Get("container")
	if containers, _ := object.Decode().Nested("spec", "containers").([]any); container == "" && len(containers) > 0 {
		first, _ := containers[0].(map[string]any)
		container = text(first, "name")
	}
	line := fmt.Sprintf("%s is simulated: container %s runs no program\n", t.Name, container)
	x.send(http.StatusOK, "text/plain", []byte(line))
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
