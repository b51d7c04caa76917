// Package causes sets up the situations in which a namespace hangs: one fixture for each cause that
// package why knows, with a near miss that looks alike and is not that cause. The workshop breaks a
// cluster with them, and the tests of this package run `orrery why` on each.
//
// A fixture only uses what any client of the API can do, and the faults of the API server in
// memory.
//
// Next: package internal/why
package causes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Namespace is the namespace that the fixtures stop.
const Namespace = "shop"

// MachineRoom is the namespace of what cannot be repaired through the API: a ConfigMap in it
// represents something broken, such as a node without power, and deleting the ConfigMap repairs it.
const MachineRoom = "machine-room"

// The paths of what the fixtures create.
const (
	allNamespaces         = "/api/v1/namespaces"
	inNamespace           = allNamespaces + "/" + Namespace
	machineRoom           = allNamespaces + "/" + MachineRoom + "/configmaps"
	systemPods            = allNamespaces + "/kube-system/pods"
	systemDeployments     = "/apis/apps/v1/namespaces/kube-system/deployments"
	podTemplates          = inNamespace + "/podtemplates"
	definitions           = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	rbacAPI               = "/apis/rbac.authorization.k8s.io/v1"
	apiServices           = "/apis/apiregistration.k8s.io/v1/apiservices"
	webhookConfigurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	policies              = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	policyBindings        = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
)

// World is a server on which a situation is set up, as its administrator. After the first error the
// methods do nothing, see [World.Err]. It is not safe for concurrent use.
type World struct {
	ctx    context.Context
	client *restclient.Client
	err    error

	beside wait.Group

	// meet, if set, is called instead of the deletion of the namespace: the world is one of several
	// in which a situation is set up.
	meet func()

	// StartController starts a namespace controller; nil means that another one does.
	StartController func()
}

// NewWorld returns a world on the server of an administrator's client.
func NewWorld(ctx context.Context, client *restclient.Client) *World {
	return &World{ctx: ctx, client: client}
}

// Err returns the first error.
func (w *World) Err() error { return w.err }

// Wait blocks until what goes on beside the situation has ended: when the situation is over, or the
// world's context.
func (w *World) Wait() { w.beside.Wait() }

// do sends a request with a JSON body, or a fault's text. A patch is a merge patch.
func (w *World) do(method, path, body string) (answer []byte) {
	if w.err != nil {
		return nil
	}
	path, query, _ := strings.Cut(path, "?")
	values, _ := url.ParseQuery(query)
	request := restclient.Request{Verb: method, Path: path, Query: values, ContentType: "application/json"}
	if method == http.MethodPatch {
		request.ContentType = string(api.MergePatchType)
	}
	if body != "" {
		request.Body = []byte(body)
	}
	if err := w.client.Do(w.ctx, request, &answer); err != nil {
		w.err = fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer
}

// read reads an object.
func (w *World) read(path string, into any) {
	answer := w.do(http.MethodGet, path, "")
	if w.err == nil {
		w.err = json.Unmarshal(answer, into)
	}
}

// write sends an object.
func (w *World) write(method, path string, object any) {
	body, err := json.Marshal(object)
	if w.err == nil {
		w.err = err
	}
	w.do(method, path, string(body))
}

// find reads what may be absent.
func (w *World) find(path string) (answer []byte, found bool) {
	if w.err != nil {
		return nil, false
	}
	err := w.client.Do(w.ctx, restclient.Request{Path: path}, &answer)
	if err != nil && !api.IsNotFound(err) {
		w.err = fmt.Errorf("GET %s: %w", path, err)
	}
	return answer, err == nil
}

// step is one thing that is done to a server.
type step = func(*World)

// then takes steps one after the other.
func then(steps ...step) step {
	return func(w *World) {
		for _, step := range steps {
			step(w)
		}
	}
}

// each takes a step for each number.
func each(count int, step func(i int) step) step {
	return func(w *World) {
		for i := range count {
			step(i)(w)
		}
	}
}

// stuck creates the namespace, takes steps in it, and requests its deletion.
func stuck(steps ...step) step { return then(namespace, then(steps...), terminate) }

// beside takes steps while the situation goes on, until the end of the world's context.
func beside(steps ...step) step {
	return func(w *World) {
		w.beside.StartWithContext(w.ctx, func(ctx context.Context) {
			then(steps...)(&World{ctx: ctx, client: w.client, StartController: w.StartController})
		})
	}
}

// start starts a namespace controller.
func start(w *World) {
	if w.err == nil && w.StartController != nil {
		w.StartController()
	}
}

// sleep waits, for what the server's own controllers do.
func sleep(d time.Duration) step {
	return func(w *World) {
		if w.err == nil {
			w.err = wait.Sleep(w.ctx, d)
		}
	}
}

// waited is the solution of what ends by itself.
var waited = sleep(5 * time.Minute)

func create(path, body string) step { return func(w *World) { w.do(http.MethodPost, path, body) } }
func patch(path, body string) step  { return func(w *World) { w.do(http.MethodPatch, path, body) } }

// ensure creates a namespace that may be there.
func ensure(namespace string) step {
	return func(w *World) {
		if _, found := w.find(allNamespaces + "/" + namespace); !found {
			create(allNamespaces, named(namespace))(w)
		}
	}
}

// remove deletes an object if it is there.
func remove(path string) step {
	return func(w *World) {
		if _, found := w.find(path); found {
			w.do(http.MethodDelete, path, "")
		}
	}
}

// release removes all finalizers of an object, as its owners would, if it is still there.
func release(path string) step {
	return func(w *World) {
		if _, found := w.find(path); found {
			patch(path, `{"metadata":{"finalizers":null}}`)(w)
		}
	}
}

// fault adds a fault of the API server in memory.
func fault(order string) step { return create("/debug/orrery/faults", order) }

// broken adds faults that last until their ConfigMap in the machine room is deleted, see [repair].
// Without faults the ConfigMap stands for something outside the cluster that the owner of a
// finalizer has to clean up. If the finalizer is removed and the ConfigMap is not, that thing is
// left behind.
func broken(what string, orders ...string) step {
	return func(w *World) {
		then(ensure(MachineRoom), create(machineRoom, named(what)))(w)
		for _, order := range orders {
			separator := ","
			if !strings.Contains(order, ":") {
				separator = ":"
			}
			fault(order + separator + "while=configmaps/" + MachineRoom + "/" + what)(w)
		}
	}
}

// repair ends what broken began, or cleans up what is outside.
func repair(what string) step { return remove(machineRoom + "/" + what) }

// until waits until something in the machine room was repaired, or the world has an error.
func until(what string) step {
	return absent(machineRoom+"/"+what, func(w *World) { sleep(5 * time.Second)(w) })
}

// absent repeats a step until an object is gone, or the world has an error.
func absent(path string, step step) step {
	return func(w *World) {
		for found := true; found; _, found = w.find(path) {
			step(w)
		}
	}
}

// namespace creates the namespace of the fixtures, if another part of the situation has not.
var namespace = ensure(Namespace)

// terminate requests the deletion of the namespace.
func terminate(w *World) {
	if w.meet != nil {
		w.meet()
		return
	}
	w.do(http.MethodDelete, inNamespace, "")
}

// named is an object, with entries for its metadata.
func named(name string, metadata ...string) string {
	return `{"metadata":{` + strings.Join(append([]string{`"name":"` + name + `"`}, metadata...), ",") + `}}`
}

// kept is the entry of an object's metadata with its finalizers.
func kept(finalizers ...string) string {
	return `"finalizers":["` + strings.Join(finalizers, `","`) + `"]`
}

// object creates an object of the core group in the namespace.
func object(resource, name string, finalizers ...string) step {
	if len(finalizers) == 0 {
		return create(inNamespace+"/"+resource, named(name))
	}
	return create(inNamespace+"/"+resource, named(name, kept(finalizers...)))
}

func configMap(name string, finalizers ...string) step {
	return object("configmaps", name, finalizers...)
}

// containers is that of a pod's spec whose program does not matter.
const containers = `"containers":[{"name":"c","image":"i"}]`

// pod creates a pod in the namespace, with an entry for its metadata, a grace period in seconds,
// and entries for its spec, each with a comma behind it. It waits until the pod runs.
func pod(name, metadata string, grace int, spec string) step {
	if metadata != "" {
		metadata = "," + metadata
	}
	return then(create(inNamespace+"/pods", fmt.Sprintf(
		`{"metadata":{"name":%q%s},"spec":{"terminationGracePeriodSeconds":%d,%s%s}}`,
		name, metadata, grace, spec, containers,
	)), sleep(10*time.Second))
}
