package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"orrery/internal/lab/apiserver/meta"
	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// serveEviction answers an eviction. Without disruption budgets it is a delete.
func (x *exchange) serveEviction(t registry.Target) error {
	eviction, parameters, err := x.readPosted(api.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}, nil)
	if err != nil {
		return err
	}
	options := api.DeleteOptions{DryRun: parameters.dryRun}
	if wanted, ok := eviction.Nested("deleteOptions").(map[string]any); ok {
		if options, err = optionsOf(wanted); err != nil {
			return err
		}
		options.DryRun = options.DryRun || parameters.dryRun
	}
	t.Subresource = ""
	if _, _, err := x.server.registry.Delete(x.r.Context(), t, options, registry.WriteOptions{DryRun: options.DryRun, User: x.user.Name}); err != nil {
		return err
	}
	x.sendSuccess(http.StatusCreated)
	return nil
}

func optionsOf(tree map[string]any) (api.DeleteOptions, error) {
	data, err := json.Marshal(tree)
	if err != nil {
		return api.DeleteOptions{}, meta.BadRequest(err.Error())
	}
	wire := &wireDeleteOptions{}
	if err := json.Unmarshal(data, wire); err != nil {
		return api.DeleteOptions{}, meta.BadRequest(err.Error())
	}
	return wire.check()
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
	node := binding.NestedString("target", "name")
	if node == "" {
		return meta.Invalid("", "Binding", t.Name, []meta.FieldError{{Type: meta.FieldRequired, Field: "target.name"}})
	}
	t.Subresource = ""
	if err := x.server.registry.Bind(x.r.Context(), t, node, x.writeOptions(parameters)); err != nil {
		return err
	}
	x.sendSuccess(http.StatusCreated)
	return nil
}

// serveLog serves the log of a container, which has a fixed line.
func (x *exchange) serveLog(t registry.Target) error {
	t.Subresource = ""
	object, err := x.server.registry.Get(t, api.GetOptions{})
	if err != nil {
		return err
	}
	pod := object.Decode()
	container, err := chosenContainer(pod, x.query.Get("container"))
	if err != nil {
		return err
	}
	node := pod.NestedString("spec", "nodeName")
	if node == "" { // not scheduled
		x.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if !x.nodeExists(node) {
		return meta.NotFound("", "pods", node) // as kube-apiserver does
	}
	if previous, _ := strconv.ParseBool(x.query.Get("previous")); previous {
		return meta.BadRequest(fmt.Sprintf("previous terminated container %q in pod %q not found", container, t.Name))
	}
	line := fmt.Sprintf("%s is simulated: container %s runs no program\n", t.Name, container)
	x.send(http.StatusOK, "text/plain", []byte(line))
	return nil
}

// chosenContainer returns the container of a pod that a request means: name, of whatever kind, or
// the only regular one.
func chosenContainer(pod *api.Unstructured, name string) (string, error) {
	regular, initial := containerNames(pod, "containers"), containerNames(pod, "initContainers")
	all := slices.Concat(regular, initial)
	switch {
	case name != "" && !slices.Contains(all, name):
		return "", meta.BadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.GetName()))
	case name != "":
		return name, nil
	case len(regular) == 1:
		return regular[0], nil
	}
	choice := fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.GetName(), regular)
	if len(initial) > 0 {
		choice += fmt.Sprintf(" or one of the init containers: %s", initial)
	}
	return "", meta.BadRequest(choice)
}

// containerNames returns the names in a list of containers of the pod's spec.
func containerNames(pod *api.Unstructured, list string) (names []string) {
	containers, _ := pod.Nested("spec", list).([]any)
	for _, container := range containers {
		if fields, ok := container.(map[string]any); ok {
			names = append(names, text(fields, "name"))
		}
	}
	return names
}

func (x *exchange) nodeExists(name string) bool {
	nodes, ok := x.server.catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: "nodes"})
	if !ok {
		return false
	}
	_, err := x.server.registry.Get(registry.Target{Definition: nodes, Version: "v1", Name: name}, api.GetOptions{})
	return err == nil
}

// refuseSimulated refuses the subresources of a program that runs and of a certificate that is
// issued: there is none.
func (x *exchange) refuseSimulated(t registry.Target) error {
	subresource := t.Subresource
	t.Subresource = ""
	if _, err := x.server.registry.Get(t, api.GetOptions{}); err != nil {
		return err
	}
	return meta.ServiceUnavailable(
		fmt.Sprintf("%s %s is simulated and has no %s", t.Definition.Singular, t.Name, subresource))
}
