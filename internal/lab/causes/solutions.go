package causes

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"orrery/restclient/api"
)

// solution is how a situation is repaired, and what that must leave alone.
type solution struct {
	solve func(*World)
	keep  []string
}

const (
	inNamespace = "/api/v1/namespaces/" + Namespace
	apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"
)

// repaired is a solution by what is broken in the machine room.
func repaired(what string, keep ...string) solution {
	return solution{func(w *World) { w.repair(what) }, keep}
}

// released is a solution by an object's finalizers, whose owner is gone.
func released(path string, keep ...string) solution {
	return solution{func(w *World) { w.release(path) }, keep}
}

// waited is the solution of what ends by itself.
var waited = solution{solve: func(w *World) { w.sleep(5 * time.Minute) }}

// solutions has an entry for each fixture.
var solutions = map[string]solution{
	"C01": {solve: func(w *World) { w.remove(apiServices + "/v1beta1.metrics.k8s.io") }},
	"C02": {solve: func(w *World) { w.remove(apiServices + "/v1beta1.custom.metrics.k8s.io") }},
	"C03": repaired("api-server-has-old-discovery", kuberay.definition()),
	"C04": released(keda.objects()+"/orders", keda.definition()),
	"C05": released(strimzi.objects()+"/orders", strimzi.definition()),
	"C06": repaired("role-is-missing", externalSecrets.definition()),
	"C07": {func(w *World) { // the policy stays in force everywhere else
		w.patchHook(`"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["` + MachineRoom + `","` + Namespace + `"]}]}`)
	}, []string{webhookConfigurations + "/policy"}},
	"C08": {func(w *World) {
		w.patch(inNamespace+"/resourcequotas/a", `{"metadata":{"annotations":{"example.com/archived":"yes"}}}`)
	}, []string{policies + "/keep", policyBindings + "/keep-all"}},
	"C09": {func(w *World) { w.endpoint("velero", "converter") }, []string{velero.definition()}},
	"C10": waited,
	"C11": repaired("node-has-no-power", "/api/v1/nodes/orrery-node-1"),
	"C12": repaired("volume-is-stuck", "/api/v1/nodes/orrery-node-1"),
	"C13": released(inNamespace + "/pods/counted"),
	"C14": repaired("node-is-switched-off", "/api/v1/nodes/orrery-node-1"),
	"C15": {solve: func(w *World) {
		w.repair("balancer-of-web")
		w.release(inNamespace + "/services/web")
	}},
	"C16": {solve: func(w *World) {
		w.repair("audit-record-of-shop")
		w.release(inNamespace)
	}},
	"C17": {solve: func(w *World) { w.remove("/api/v1/namespaces/kube-system/pods/kube-controller-manager") }},
	"C18": {solve: func(w *World) {
		w.repair("quota-of-shop")
		w.setTokens(func(tokens []string) []string {
			return slices.DeleteFunc(tokens, func(t string) bool { return t == "example.com/x" })
		})
	}},
	"C19": repaired("controller-is-off"),
	"C20": {solve: func(w *World) { w.remove("/api/v1/namespaces/kube-system/pods/sweeper") }},
	"C21": repaired("controller-has-lost-its-role"),
	"C22": repaired("extension-server-lacks-delete", argo.definition()),
	"C23": repaired("encryption-key-is-missing"),
	"C24": released(inNamespace + "/pods/admitted"),
	"C25": released(certManager.objects() + "/orders"),
	"C26": released(inNamespace + "/pods/leaf"),
	"C27": waited,
	"C28": repaired("gitops-keeps-creating"),
	"C29": {solve: (*World).terminate},
	"C30": {solve: func(w *World) {
		w.repair("reader-has-lost-a-right")
		w.release(inNamespace + "/configmaps/kept")
	}},
}

// patchHook adds a field to the webhook of the fixtures.
func (w *World) patchHook(field string) {
	var configuration struct {
		Webhooks []map[string]any `json:"webhooks"`
	}
	w.read(webhookConfigurations+"/policy", &configuration)
	for _, hook := range configuration.Webhooks {
		if w.err == nil {
			w.err = json.Unmarshal([]byte("{"+field+"}"), &hook)
		}
	}
	patch, err := json.Marshal(configuration)
	if w.err == nil {
		w.err = err
	}
	w.patch(webhookConfigurations+"/policy", string(patch))
}

// setTokens changes spec.finalizers of the namespace.
func (w *World) setTokens(change func(tokens []string) []string) {
	namespace := &api.Unstructured{}
	w.read(inNamespace, &namespace.Object)
	if w.err != nil {
		return
	}
	tokens := []any{}
	for _, token := range change(namespace.NestedStringSlice("spec", "finalizers")) {
		tokens = append(tokens, token)
	}
	w.err = namespace.SetNested(tokens, "spec", "finalizers")
	body, err := json.Marshal(namespace.Object)
	if w.err == nil {
		w.err = err
	}
	w.do(http.MethodPut, inNamespace+"/finalize", string(body))
}

// Finalize empties spec.finalizers by hand, which many pages on the web advise.
func Finalize(w *World) { w.setTokens(func([]string) []string { return nil }) }
