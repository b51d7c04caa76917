package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"orrery/controller"
	"orrery/informer"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// What a scene on a bare stage starts itself.

// ConfigMaps returns the configmaps of the namespace for a client of [Stage.NewClient], or for the
// script's if it is nil.
func (s *Stage) ConfigMaps(client *restclient.Client) *restclient.Resource[*api.Unstructured] {
	return restclient.Dynamic(cmp.Or(client, s.script), configMaps, Namespace)
}

// NewClient returns a client of the spectators' user, with a trace of its own or nil. A gateway is
// between it and the server; see [Stage.AnswerNextWatch].
func (s *Stage) NewClient(trace *restclient.Trace) (*restclient.Client, error) {
	server := s.Server
	server.WrapTransport = func(next http.RoundTripper) http.RoundTripper { return gateway{next, &s.answer} }
	return s.newClient(spectatorsUser, server, trace)
}

// newConfigMaps makes the scene's informer of configmaps with the stage's gears.
func (s *Stage) newConfigMaps(client *restclient.Client) {
	s.configMaps = newInformer(s, restclient.Metadata(client, configMaps, Namespace), configMaps.Resource)
}

// startInformer starts an informer of the configmaps with handlers that do nothing, and waits for
// its first list. more is a further trace of its requests. It ends with the stage.
func startInformer(more *restclient.Trace, handlers ...string) step {
	return func(on *Stage, ctx context.Context) error {
		client, err := on.NewClient(more)
		if err != nil {
			return err
		}
		on.newConfigMaps(client)
		for _, name := range handlers {
			_, err := on.configMaps.AddEventHandlerWithOptions(idle, informer.HandlerOptions{Name: name})
			if err != nil {
				return err
			}
		}
		return on.runInformer(ctx)
	}
}

// runInformer starts the informer and waits for its first list.
func (s *Stage) runInformer(ctx context.Context) error {
	s.informers.Go(func() { _ = s.configMaps.Run(s.informing) })
	return informer.WaitForSync(ctx, s.configMaps)
}

// gateway is a transport that answers single watches in place of the server, and passes on
// everything else.
type gateway struct {
	http.RoundTripper
	answer *atomic.Pointer[http.Response] // to the next watch
}

// RoundTrip implements http.RoundTripper.
func (g gateway) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Has("watch") {
		if answer := g.answer.Swap(nil); answer != nil {
			answer.Request = request
			return answer, nil
		}
	}
	return g.RoundTripper.RoundTrip(request)
}

// AnswerNextWatch makes a gateway answer the next watch of a client of [Stage.NewClient] in place
// of the server.
func (s *Stage) AnswerNextWatch(code int, contentType, body string) {
	s.answer.Store(&http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}},
		Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	})
}

// startPlain starts a plain controller of the configmaps on a bare stage: an informer, a handler
// that queues keys, and the scene's workers. It waits for the informer's first list. Its client
// repeats no request by itself. retry is the delay of a failed key, which doubles up to a minute: a
// pass reads its configmap from the server. 0: every pass succeeds at once. It ends with the stage.
func (s *Stage) startPlain(ctx context.Context, retry time.Duration) error {
	once := s.Server
	once.MaxRetries = -1
	client, err := s.newClient(spectatorsUser, once, nil)
	if err != nil {
		return err
	}
	const name = "configmaps"
	s.newConfigMaps(client)
	var pool *controller.Pool
	add := func(o *api.PartialObjectMetadata) { pool.Add(Namespace + "/" + o.Name) }
	handler := informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc:    func(o *api.PartialObjectMetadata, _ bool) { add(o) },
		UpdateFunc: func(_, o *api.PartialObjectMetadata) { add(o) },
		DeleteFunc: func(deleted informer.DeletedObject[*api.PartialObjectMetadata]) { pool.Add(deleted.Key) },
	}
	registered, err := s.configMaps.AddEventHandlerWithOptions(handler, informer.HandlerOptions{Name: "controller"})
	if err != nil {
		return err
	}
	pool = controller.NewPool(controller.PoolConfig{
		Name: name, Workers: s.scene.workers, DrainTimeout: time.Second,
		RateLimiter: queue.NewItemExponentialFailureRateLimiter[string](cmp.Or(retry, time.Second), time.Minute),
		Reconcile: func(ctx context.Context, key string) (_ time.Duration, err error) {
			if retry > 0 {
				_, err = s.ConfigMaps(client).Get(ctx, NameOf(key), api.GetOptions{})
			}
			return 0, err
		},
		Keys:     s.configMaps.GetIndexer().ListKeys,
		Synced:   []informer.InformerSynced{registered.HasSynced},
		NewQueue: HoldQueue(s.Gates, name, s.Gears.NewQueue), QueueTrace: s.Recorder.Queue(name),
	})
	if err := s.runInformer(ctx); err != nil {
		return err
	}
	s.controllers.Go(func() { pool.Run(s.working, s.working) })
	return nil
}

// What the script does to the configmaps of a scene with a plain controller. The reader may open
// and step every gate after the answer, so a script never waits for an item at a gate.

// startPlain creates configmaps and starts a plain controller.
func startPlain(retry time.Duration, names ...string) step {
	return script(createAll(names...), func(on *Stage, ctx context.Context) error { return on.startPlain(ctx, retry) })
}

// createAll creates the namespace with configmaps.
func createAll(names ...string) step {
	steps := []step{(*Stage).CreateNamespace}
	for _, name := range names {
		steps = append(steps, create(name))
	}
	return script(steps...)
}

// object returns an object of the core group that has nothing but a name.
func object(kind, name string) *api.Unstructured {
	return &api.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name},
	}}
}

// create creates a configmap without data.
func create(name string) step {
	return func(on *Stage, ctx context.Context) error {
		on.Tell(You, "kubectl -n %s create configmap %s", Namespace, name)
		_, err := on.ConfigMaps(nil).Create(ctx, object("ConfigMap", name), api.UpdateOptions{})
		return err
	}
}

// label sets a label of a configmap, such as n=1.
func label(key, label string) step {
	return func(on *Stage, ctx context.Context) error {
		name := NameOf(key)
		on.Tell(You, "kubectl -n %s label configmap %s %s", Namespace, name, label)
		return on.label(ctx, name, label)
	}
}

func (s *Stage) label(ctx context.Context, name, label string) error {
	label, value, _ := strings.Cut(label, "=")
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, label, value)
	_, err := s.ConfigMaps(nil).Patch(ctx, name, api.MergePatchType, patch, api.UpdateOptions{})
	return err
}

// remove deletes a configmap.
func remove(name string) step {
	return func(on *Stage, ctx context.Context) error {
		on.Tell(You, "kubectl -n %s delete configmap %s", Namespace, name)
		return on.ConfigMaps(nil).Delete(ctx, name, api.DeleteOptions{})
	}
}
