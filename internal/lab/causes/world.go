package causes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Namespace is the namespace that the fixtures stop.
const Namespace = "shop"

// World is a server on which a situation is set up, as its administrator. After the first error the methods do nothing, see
// [World.Err]. It is not safe for concurrent use.
type World struct {
	ctx    context.Context
	client *restclient.Client
	err    error
}

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
	request := restclient.Request{Verb: method, Path: path, ContentType: "application/json"}
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

// namespace creates the namespace of the fixtures, with entries for its metadata.
func (w *World) namespace(metadata string) {
	if metadata != "" {
		metadata = "," + metadata
	}
	w.create("/api/v1/namespaces", `{"metadata":{"name":"`+Namespace+`"`+metadata+`}}`)
}

// terminate requests the deletion of the namespace.
func (w *World) terminate() { w.delete("/api/v1/namespaces/" + Namespace) }

// configMap creates a ConfigMap in the namespace, with entries for its metadata.
func (w *World) configMap(name, metadata string) {
	if metadata != "" {
		metadata = "," + metadata
	}
	w.create("/api/v1/namespaces/"+Namespace+"/configmaps", `{"metadata":{"name":"`+name+`"`+metadata+`}}`)
}

// pod creates a pod in the namespace, with entries for its metadata and its spec, and waits until it runs.
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

// Empty creates an empty namespace in deletion.
func Empty(w *World) {
	w.namespace("")
	w.terminate()
}

// Many creates a namespace in deletion with many ConfigMaps, each with a finalizer that no table lists.
func Many(w *World, count int) {
	w.namespace("")
	for i := range count {
		w.configMap(fmt.Sprintf("c%d", i), `"finalizers":["example.com/x"]`)
	}
	w.do(http.MethodDelete, "/api/v1/namespaces/"+Namespace+"/configmaps", "")
	w.terminate()
}
