package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orrery/informer/informertest"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// apiServer serves collections as kube-apiserver does, over HTTP and websocket.
type apiServer []*collection

func (s apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, c := range s {
		if r.URL.Path == c.path {
			c.serve(w, r)
			return
		}
	}
	refuse(w, informertest.StatusError(http.StatusNotFound, api.ReasonNotFound, "no such resource"))
}

// collection is one resource: a source with a history, and the journal of its requests and of its
// informer's errors.
type collection struct {
	path       string
	kind       string
	apiVersion string
	namespaced bool
	source     *informertest.FakeSource[*api.Unstructured]
	journal
}

func newCollection(path, apiVersion, kind string, namespaced bool) *collection {
	return &collection{
		path: path, kind: kind, apiVersion: apiVersion, namespaced: namespaced,
		source:  informertest.NewFakeSource(stamp),
		journal: journal{began: time.Now()},
	}
}

// stamp returns a copy of obj with the resource version.
func stamp(obj *api.Unstructured, resourceVersion string) *api.Unstructured {
	document := maps.Clone(obj.Object)
	head := maps.Clone(document["metadata"].(map[string]any))
	head["resourceVersion"] = resourceVersion
	document["metadata"] = head
	return &api.Unstructured{Object: document}
}

// object returns an object of the collection. Handlers distinguish states by its value.
func (c *collection) object(name, value string) *api.Unstructured {
	head := map[string]any{"name": name, "uid": name + "-uid", "labels": map[string]any{informertest.ValueLabel: value}}
	if c.namespaced {
		head["namespace"] = "shop"
	}
	return &api.Unstructured{Object: map[string]any{
		"apiVersion": c.apiVersion, "kind": c.kind, "metadata": head, "status": map[string]any{"phase": "Active"},
	}}
}

func (c *collection) keyOf(name string) string {
	if c.namespaced {
		return "shop/" + name
	}
	return name
}

// set adds or updates the object with the given name.
func (c *collection) set(name, value string) {
	if _, known := c.source.Objects()[c.keyOf(name)]; known {
		c.source.Modify(c.object(name, value))
	} else {
		c.source.Add(c.object(name, value))
	}
}

// fault is a failure below HTTP, injected like a refusal.
type fault string

func (f fault) Error() string { return string(f) }

const (
	hang      fault = "hang"       // the request is accepted and never answered
	reset     fault = "reset"      // the connection (HTTP/2: the stream) breaks before the response
	torn      fault = "torn"       // it breaks in the middle of the response
	stalled   fault = "stalled"    // the response stops in the middle
	noUpgrade fault = "no-upgrade" // a proxy answers a websocket handshake itself
)

func (c *collection) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	opts, err := parseListOptions(query)
	if err != nil {
		refuse(w, informertest.StatusError(http.StatusBadRequest, api.ReasonBadRequest, err.Error()))
		return
	}
	view := view{c, strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")}
	if query.Get("watch") == "true" {
		c.logf("WATCH rv=%q%s", opts.ResourceVersion, options(opts))
		view.watch(w, r, opts)
	} else {
		c.logf("LIST rv=%q%s", opts.ResourceVersion, options(opts))
		view.list(w, r, opts)
	}
}

// parseListOptions is the reverse of [api.ListOptions.Query].
func parseListOptions(query url.Values) (o api.ListOptions, err error) {
	o = api.ListOptions{
		LabelSelector:        query.Get("labelSelector"),
		FieldSelector:        query.Get("fieldSelector"),
		ResourceVersion:      query.Get("resourceVersion"),
		ResourceVersionMatch: api.ResourceVersionMatch(query.Get("resourceVersionMatch")),
		Continue:             query.Get("continue"),
		AllowWatchBookmarks:  query.Get("allowWatchBookmarks") == "true",
		SendInitialEvents:    query.Get("sendInitialEvents") == "true",
	}
	for name, field := range map[string]*int64{"limit": &o.Limit, "timeoutSeconds": &o.TimeoutSeconds} {
		if text := query.Get(name); text != "" {
			if *field, err = strconv.ParseInt(text, 10, 64); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// view is a collection in the requested form: whole objects or metadata.
type view struct {
	*collection
	heads bool
}

func (v view) list(w http.ResponseWriter, r *http.Request, opts api.ListOptions) {
	list, err := v.source.List(r.Context(), opts)
	fault, partly := errors.AsType[fault](err)
	if partly = partly && (fault == torn || fault == stalled); err != nil && !partly {
		v.fail(w, r, err)
		return
	}
	if partly {
		list = &api.List[*api.Unstructured]{Items: []*api.Unstructured{v.object("never", "arrives")}}
	}
	kind := v.typeMeta()
	answer := api.List[any]{ListMeta: list.ListMeta, Items: []any{}}
	answer.Kind, answer.APIVersion = kind.Kind+"List", kind.APIVersion
	for _, obj := range list.Items {
		answer.Items = append(answer.Items, v.item(obj))
	}
	body, _ := json.Marshal(answer)
	w.Header().Set("Content-Type", "application/json")
	if !partly {
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	w.(http.Flusher).Flush()
	if fault == stalled {
		<-r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

func (v view) watch(w http.ResponseWriter, r *http.Request, opts api.ListOptions) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	watcher, err := v.source.Watch(ctx, opts)
	if err != nil {
		v.fail(w, r, err)
		return
	}
	defer watcher.Stop()
	restclienttest.ServeWatch(w, r, func(stream *restclienttest.Stream) {
		go func() {
			stream.Wait() // the client disconnects
			cancel()
		}()
		v.pump(ctx, watcher, stream)
	})
}

var halfAnEvent = []byte(`{"type":"ADDED","object":{"metadata":{"na`)

func (v view) pump(ctx context.Context, watcher api.Watcher[*api.Unstructured], stream *restclienttest.Stream) {
	for {
		event, err := watcher.Next()
		switch {
		case errors.Is(err, torn):
			_ = stream.SendRaw(halfAnEvent)
			stream.Break()
			return
		case errors.Is(err, stalled):
			_ = stream.SendRaw(halfAnEvent)
			<-ctx.Done()
			return
		case errors.Is(err, reset):
			stream.Break()
			return
		case err != nil:
			return
		}
		if stream.Send(event.Type, v.eventObject(event)) != nil {
			return
		}
	}
}

func (v view) eventObject(event api.WatchEvent[*api.Unstructured]) any {
	switch event.Type {
	case api.WatchError:
		status := *event.Status
		status.Kind, status.APIVersion = "Status", "v1"
		return status
	case api.WatchBookmark:
		head := map[string]any{"resourceVersion": event.ResourceVersion, "creationTimestamp": nil}
		if event.InitialEventsEnd {
			head["annotations"] = map[string]any{api.InitialEventsAnnotation: "true"}
		}
		kind := v.typeMeta()
		return map[string]any{"kind": kind.Kind, "apiVersion": kind.APIVersion, "metadata": head}
	}
	if v.heads {
		return v.head(event.Object)
	}
	return event.Object
}

func (v view) typeMeta() api.TypeMeta {
	if v.heads {
		return api.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}
	}
	return api.TypeMeta{Kind: v.kind, APIVersion: v.apiVersion}
}

func (v view) head(obj *api.Unstructured) any {
	kind := v.typeMeta()
	return map[string]any{"kind": kind.Kind, "apiVersion": kind.APIVersion, "metadata": obj.Object["metadata"]}
}

// item returns an object for a list. In lists of built-in types items have no kind.
func (v view) item(obj *api.Unstructured) any {
	if v.heads {
		return v.head(obj)
	}
	document := maps.Clone(obj.Object)
	delete(document, "kind")
	delete(document, "apiVersion")
	return document
}

// fail answers a request with a refusal of the source or an injected fault.
func (v view) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, refused := errors.AsType[*api.StatusError](err)
	switch {
	case refused:
		refuse(w, status)
	case errors.Is(err, hang):
		<-r.Context().Done()
	case errors.Is(err, noUpgrade):
		_, _ = io.WriteString(w, "<html>welcome</html>")
	default:
		panic(http.ErrAbortHandler)
	}
}

func refuse(w http.ResponseWriter, err *api.StatusError) {
	retryAfter := err.RetryAfter
	if api.IsTooLargeResourceVersion(err) {
		retryAfter = time.Second // as kube-apiserver does
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	status := err.Status
	status.Kind, status.APIVersion, status.Status = "Status", "v1", api.StatusFailure
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status.Code)
	_ = json.NewEncoder(w).Encode(status)
}
