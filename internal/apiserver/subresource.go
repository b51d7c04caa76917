package apiserver

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/internal/apiserver/apierrors"
	"orrery/internal/apiserver/authn"
	"orrery/internal/apiserver/negotiation"
	"orrery/internal/apiserver/patch"
	"orrery/internal/apiserver/registry"
	"orrery/internal/apiserver/resources"
	"orrery/internal/apiserver/schema"
	"orrery/internal/apiserver/store"
	"orrery/restclient/api"
)

// single is a sequence of one object.
func single(object *store.Object) iter.Seq[*store.Object] {
	return func(yield func(*store.Object) bool) { yield(object) }
}

var scaleKind = api.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// serveScale answers reads and writes of the number of replicas, which look the same for everything that has replicas.
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

// changeScale takes a scale, or a patch of one, into the object.
func (x *exchange) changeScale(t registry.Target) error {
	var kind api.PatchType
	if x.r.Method == http.MethodPatch {
		var err error
		if kind, err = x.patchType(t.Definition); err != nil {
			return err
		}
	}
	r, err := x.represent(resources.Scales(), negotiation.Rules{})
	if err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "UpdateOptions")
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

// serveEviction answers a request to end a pod. There are no disruption budgets here, so it is a delete.
func (x *exchange) serveEviction(t registry.Target) error {
	if err := x.negotiate(negotiation.Rules{}); err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "CreateOptions")
	if err != nil {
		return err
	}
	eviction, err := x.readObject(api.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}, nil, false, parameters.validation)
	if err != nil {
		return err
	}
	if eviction.GetName() != t.Name {
		return apierrors.BadRequest("name in URL does not match name in Eviction object")
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
		return api.DeleteOptions{}, apierrors.BadRequest(err.Error())
	}
	wire := &wireDeleteOptions{}
	if err := json.Unmarshal(data, wire); err != nil {
		return api.DeleteOptions{}, apierrors.BadRequest(err.Error())
	}
	return wire.check()
}

func (x *exchange) sendSuccess(code int) {
	x.sendDocument(code, encodeStatus(api.Status{Status: api.StatusSuccess, Code: code}))
}

// serveBinding assigns a pod to a node, as a scheduler does.
func (x *exchange) serveBinding(t registry.Target) error {
	if err := x.negotiate(negotiation.Rules{}); err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "CreateOptions")
	if err != nil {
		return err
	}
	binding, err := x.readObject(api.GroupVersionKind{Version: "v1", Kind: "Binding"}, nil, false, parameters.validation)
	if err != nil {
		return err
	}
	node := binding.NestedString("target", "name")
	if node == "" {
		return apierrors.Invalid("", "Binding", t.Name, []apierrors.FieldError{{Type: apierrors.FieldRequired, Field: "target.name"}})
	}
	t.Subresource = ""
	if err := x.server.registry.Bind(x.r.Context(), t, node, x.writeOptions(parameters)); err != nil {
		return err
	}
	x.sendSuccess(http.StatusCreated)
	return nil
}

// serveLog answers with what a container could have written: there is none.
func (x *exchange) serveLog(t registry.Target) error {
	t.Subresource = ""
	object, err := x.server.registry.Get(t, api.GetOptions{})
	if err != nil {
		return err
	}
	pod := object.Decode()
	var names []string
	containers, _ := pod.Nested("spec", "containers").([]any)
	for _, container := range containers {
		if fields, ok := container.(map[string]any); ok {
			names = append(names, text(fields, "name"))
		}
	}
	container, node := x.query.Get("container"), pod.NestedString("spec", "nodeName")
	switch {
	case container != "" && !slices.Contains(names, container):
		return apierrors.BadRequest(fmt.Sprintf("container %s is not valid for pod %s", container, t.Name))
	case container == "" && len(names) > 1:
		return apierrors.BadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: [%s]", t.Name, strings.Join(names, " ")))
	case container == "" && len(names) == 1:
		container = names[0]
	}
	if node == "" { // nobody could have written anything yet
		x.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if !x.nodeExists(node) {
		return apierrors.NotFound("", "pods", node) // so says the original
	}
	line := fmt.Sprintf("%s is played by the built-in kubelet: container %s runs no program and writes nothing else\n", t.Name, container)
	x.send(http.StatusOK, "text/plain", []byte(line))
	return nil
}

func (x *exchange) nodeExists(name string) bool {
	nodes, ok := x.server.catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: "nodes"})
	if !ok {
		return false
	}
	_, err := x.server.registry.Get(registry.Target{Definition: nodes, Version: "v1", Name: name}, api.GetOptions{})
	return err == nil
}

// The lifetimes of tokens, in seconds.
const (
	shortestToken = 600
	defaultToken  = 3600
	longestToken  = 1 << 32
)

// serveToken answers with a token for a service account.
func (x *exchange) serveToken(t registry.Target) error {
	if err := x.negotiate(negotiation.Rules{}); err != nil {
		return err
	}
	parameters, err := writeOptions(x.query, "CreateOptions")
	if err != nil {
		return err
	}
	kind := api.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}
	request, err := x.readObject(kind, nil, false, parameters.validation)
	if err != nil {
		return err
	}
	t.Subresource = ""
	account, err := x.server.registry.Get(t, api.GetOptions{})
	if err != nil {
		return err
	}
	seconds := int64(defaultToken)
	if request.Nested("spec", "expirationSeconds") != nil {
		seconds = request.NestedInt64("spec", "expirationSeconds")
	}
	if mistake := checkLifetime(seconds); mistake != nil {
		return apierrors.Invalid(kind.Group, kind.Kind, "", mistake)
	}
	audiences := request.NestedStringSlice("spec", "audiences")
	if len(audiences) == 0 {
		audiences = []string{authn.Address}
	}
	now := time.Now().UTC()
	expires := now.Add(time.Duration(seconds) * time.Second)
	token := x.server.authenticator.ServiceAccounts.Issue(authn.ServiceAccount{
		Namespace: t.Namespace, Name: t.Name, UID: account.UID, Audiences: audiences,
	}, expires)
	return x.sendJSON(http.StatusCreated, map[string]any{
		"kind": kind.Kind, "apiVersion": gvOf(kind).String(),
		"metadata": map[string]any{
			"name": t.Name, "namespace": t.Namespace, "uid": account.UID, "creationTimestamp": now.Format(time.RFC3339),
		},
		"spec":   map[string]any{"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": request.Nested("spec", "boundObjectRef")},
		"status": map[string]any{"token": token, "expirationTimestamp": expires.Format(time.RFC3339)},
	})
}

func checkLifetime(seconds int64) []apierrors.FieldError {
	mistake := apierrors.FieldError{Type: apierrors.FieldInvalid, Field: "spec.expirationSeconds", Value: seconds}
	switch {
	case seconds < shortestToken:
		mistake.Detail = "may not specify a duration less than 10 minutes"
	case seconds > longestToken:
		mistake.Detail = "may not specify a duration larger than 2^32 seconds"
	default:
		return nil
	}
	mistake.Value = json.Number(strconv.FormatInt(seconds, 10))
	return []apierrors.FieldError{mistake}
}
