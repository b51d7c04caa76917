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

func (w *World) startController() {
	if w.StartController != nil {
		w.StartController()
	}
}

// background runs what goes on beside the situation, until the end of the world's context.
func (w *World) background(do func(*World)) {
	w.beside.StartWithContext(w.ctx, func(ctx context.Context) { do(NewWorld(ctx, w.client)) })
}

// Wait blocks until what goes on beside the situation has ended: when the situation is over, or the
// world's context.
func (w *World) Wait() { w.beside.Wait() }

// NewWorld returns a world on the server of an administrator's client.
func NewWorld(ctx context.Context, client *restclient.Client) *World {
	return &World{ctx: ctx, client: client}
}

// Err returns the first error.
func (w *World) Err() error { return w.err }

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

func (w *World) create(path, body string) { w.do(http.MethodPost, path, body) }
func (w *World) patch(path, body string)  { w.do(http.MethodPatch, path, body) }
func (w *World) delete(path string)       { w.do(http.MethodDelete, path, "") }

// read reads an object.
func (w *World) read(path string, into any) {
	answer := w.do(http.MethodGet, path, "")
	if w.err == nil {
		w.err = json.Unmarshal(answer, into)
	}
}

// sleep waits, for what the server's own controllers do.
func (w *World) sleep(d time.Duration) {
	if w.err == nil {
		w.err = wait.Sleep(w.ctx, d)
	}
}

// fault adds a fault of the API server in memory and returns its id.
func (w *World) fault(order string) string {
	var made struct {
		ID string `json:"id"`
	}
	answer := w.do(http.MethodPost, "/debug/orrery/faults", order)
	if w.err == nil {
		w.err = json.Unmarshal(answer, &made)
	}
	return made.ID
}

// namespace creates the namespace of the fixtures, or adds finalizers to its metadata.
func (w *World) namespace(finalizers ...string) {
	if _, found := w.find(inNamespace); !found {
		w.create("/api/v1/namespaces", `{"metadata":{"name":"`+Namespace+`"}}`)
	}
	if len(finalizers) == 0 {
		return
	}
	var there api.PartialObjectMetadata
	w.read(inNamespace, &there)
	w.patch(inNamespace, `{"metadata":{"finalizers":["`+strings.Join(append(there.Finalizers, finalizers...), `","`)+`"]}}`)
}

// MachineRoom is the namespace of what cannot be repaired through the API: a ConfigMap in it
// represents something broken, such as a node without power, and deleting the ConfigMap repairs it.
const MachineRoom = "machine-room"

const machineRoom = "/api/v1/namespaces/" + MachineRoom + "/configmaps"

// broken adds faults that last until their ConfigMap in the machine room is deleted, see
// [World.repair].
func (w *World) broken(what string, orders ...string) {
	if _, found := w.find("/api/v1/namespaces/" + MachineRoom); !found {
		w.create("/api/v1/namespaces", `{"metadata":{"name":"`+MachineRoom+`"}}`)
	}
	w.create(machineRoom, `{"metadata":{"name":"`+what+`"}}`)
	for _, order := range orders {
		separator := ","
		if !strings.Contains(order, ":") {
			separator = ":"
		}
		w.fault(order + separator + "while=configmaps/" + MachineRoom + "/" + what)
	}
}

// outside adds a ConfigMap to the machine room for something outside the cluster that the owner of
// a finalizer has to clean up. If the finalizer is removed and the ConfigMap is not, that thing is
// left behind.
func (w *World) outside(what string) { w.broken(what) }

// repair ends what broken began, or cleans up what is outside.
func (w *World) repair(what string) { w.remove(machineRoom + "/" + what) }

// remove deletes an object if it is there.
func (w *World) remove(path string) {
	if _, found := w.find(path); found {
		w.delete(path)
	}
}

// until waits until something in the machine room was repaired, and reports whether it was.
func (w *World) until(what string) bool {
	for w.err == nil {
		w.sleep(5 * time.Second)
		if _, found := w.find(machineRoom + "/" + what); !found {
			return w.err == nil
		}
	}
	return false
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

// release removes all finalizers of an object, as its owners would, if it is still there.
func (w *World) release(path string) {
	if _, found := w.find(path); found {
		w.patch(path, `{"metadata":{"finalizers":null}}`)
	}
}

// endpoint gives a Service a ready endpoint, and creates both and their namespace.
func (w *World) endpoint(namespace, service string) {
	if _, found := w.find("/api/v1/namespaces/" + namespace); !found {
		w.create("/api/v1/namespaces", `{"metadata":{"name":"`+namespace+`"}}`)
	}
	w.create("/api/v1/namespaces/"+namespace+"/services", `{"metadata":{"name":"`+service+`"},"spec":{"ports":[{"port":443}]}}`)
	w.create("/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices", `{"metadata":{"name":"`+service+`",
		"labels":{"kubernetes.io/service-name":"`+service+`"}},"addressType":"IPv4","endpoints":[{"addresses":["192.0.2.9"]}],"ports":[{"port":443}]}`)
}

// terminate requests the deletion of the namespace.
func (w *World) terminate() {
	if w.meet != nil {
		w.meet()
		return
	}
	w.delete(inNamespace)
}

// configMap creates a ConfigMap in the namespace, with entries for its metadata.
func (w *World) configMap(name, metadata string) {
	if metadata != "" {
		metadata = "," + metadata
	}
	w.create("/api/v1/namespaces/"+Namespace+"/configmaps", `{"metadata":{"name":"`+name+`"`+metadata+`}}`)
}

// pod creates a pod in the namespace, with entries for its metadata and its spec, and waits until
// it runs.
func (w *World) pod(name, metadata, spec string) {
	if metadata != "" {
		metadata = "," + metadata
	}
	if spec != "" {
		spec = "," + spec
	}
	w.create("/api/v1/namespaces/"+Namespace+"/pods",
		`{"metadata":{"name":"`+name+`"`+metadata+`},"spec":{"containers":[{"name":"c","image":"i"}]`+spec+`}}`)
	w.sleep(10 * time.Second)
}

// Empty creates an empty terminating namespace.
func Empty(w *World) {
	w.namespace()
	w.terminate()
}

// Types creates an empty terminating namespace, on a server with so many namespaced types that it
// can hold.
func Types(w *World, count int) {
	w.namespace()
	for i := range count - builtInTypes {
		plural := fmt.Sprintf("type%ds", i)
		w.create(definitions, `{"metadata":{"name":"`+plural+`.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
			"names":{"plural":"`+plural+`","kind":"`+plural+`"},"versions":[{"name":"v1","served":true,"storage":true,
			"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	}
	w.sleep(5 * time.Second)
	w.terminate()
}

// builtInTypes is how many types that a namespace can hold the server has without definitions.
const builtInTypes = 30

// Many creates a terminating namespace with many ConfigMaps, each with a finalizer that no table
// lists.
func Many(w *World, count int) {
	w.namespace()
	for i := range count {
		w.configMap(fmt.Sprintf("c%d", i), `"finalizers":["example.com/x"]`)
	}
	w.do(http.MethodDelete, "/api/v1/namespaces/"+Namespace+"/configmaps", "")
	w.terminate()
}
