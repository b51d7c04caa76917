package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"orrery/controller"
	"orrery/informer"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// What a scene on a bare stage starts itself.

// ConfigMaps returns the configmaps of the namespace for a client of [Stage.NewClient], or for the
// script's if it is nil.
func (s *Stage) ConfigMaps(client *restclient.Client) *restclient.Resource[*api.Unstructured] {
	return restclient.Dynamic(cmp.Or(client, s.script), core("configmaps"), Namespace)
}

// bare is what a scene on a bare stage has started.
type bare struct {
	gateway  gateway
	client   *restclient.Client // the last one of NewClient
	read     *api.Unstructured  // the answer to the client's last get
	informer *Informer          // the scene's, see StartInformer and StartPlain
}

// NewClient returns a client of the spectators' user, with a trace in addition to the counting of
// requests. A gateway is between it and the server; see [Stage.AnswerNextWatch]. The client ends
// with the stage.
func (s *Stage) NewClient(trace *restclient.Trace) (*restclient.Client, error) {
	config := s.StageConfig
	config.Server.WrapTransport = s.bare.gateway.between
	client, err := newClient(config, story.Spectators, trace)
	if err == nil {
		s.added, s.bare.client = append(s.added, client), client
	}
	return client, err
}

// lastClient returns the last client of NewClient; without one, it makes one.
func (s *Stage) lastClient() (*restclient.Client, error) {
	if s.bare.client != nil {
		return s.bare.client, nil
	}
	return s.NewClient(nil)
}

// Request sends a request for a configmap with the last client of [Stage.NewClient]. The verb is
// create, get, update or delete; an update sends the answer to the last get.
func (s *Stage) Request(ctx context.Context, verb, name string) error {
	client, err := s.lastClient()
	if err != nil {
		return err
	}
	objects := s.ConfigMaps(client)
	switch verb {
	case "create":
		_, err = objects.Create(ctx, configMap(name), api.UpdateOptions{})
	case "get":
		s.bare.read, err = objects.Get(ctx, name, api.GetOptions{})
	case "update":
		if s.bare.read == nil {
			return errors.New("nothing was read before the update")
		}
		_, err = objects.Update(ctx, s.bare.read, api.UpdateOptions{})
	case "delete":
		err = objects.Delete(ctx, name, api.DeleteOptions{})
	default:
		err = fmt.Errorf("there is no request %q", verb)
	}
	return err
}

// Informer is an informer of configmaps.
type Informer = informer.SharedIndexInformer[*api.PartialObjectMetadata]

// newConfigMaps makes an informer of the configmaps with the stage's gears, whose lists and watches
// are told.
func (s *Stage) newConfigMaps(client *restclient.Client, resync time.Duration) {
	const name = "configmaps"
	s.Teller.Update(func(state *story.State) { state.Reported[name] = true })
	s.bare.informer = newInformer(restclient.Metadata(client, core(name), Namespace), name, resync, s.StageConfig)
}

// StartInformer starts an informer of the configmaps with handlers that do nothing, and waits for
// its first list. more is a further trace of its requests. It ends with the stage.
func (s *Stage) StartInformer(ctx context.Context, more *restclient.Trace, handlers ...string) error {
	client, err := s.NewClient(more)
	if err != nil {
		return err
	}
	s.newConfigMaps(client, 0)
	for _, name := range handlers {
		if err := s.AddHandler(name, 0); err != nil {
			return err
		}
	}
	return s.runInformer(ctx)
}

// runInformer starts the informer and waits for its first list.
func (s *Stage) runInformer(ctx context.Context) error {
	started := s.bare.informer
	s.running.Go(func() { _ = started.Run(s.slowCtx) })
	return informer.WaitForSync(ctx, started)
}

// idle is a handler that does nothing.
var idle = informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{}

// AddHandler adds a handler that does nothing to the scene's informer.
func (s *Stage) AddHandler(name string, resync time.Duration) error {
	_, err := s.bare.informer.AddEventHandlerWithOptions(idle, informer.HandlerOptions{Name: name, ResyncPeriod: resync})
	return err
}

// gateway stands between a client and the server. It answers single watches in place of the server,
// and passes on everything else. The zero value passes on everything.
type gateway struct{ answer atomic.Pointer[http.Response] } // to the next watch

// AnswerNextWatch makes a gateway answer the next watch of a client of [Stage.NewClient] in place
// of the server.
func (s *Stage) AnswerNextWatch(code int, contentType, body string) {
	s.bare.gateway.answer.Store(&http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}},
		Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	})
}

// between is the WrapTransport of the client.
func (g *gateway) between(server http.RoundTripper) http.RoundTripper {
	return transport(func(request *http.Request) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" {
			return server.RoundTrip(request)
		}
		answer := g.answer.Swap(nil)
		if answer == nil {
			return server.RoundTrip(request)
		}
		answer.Request = request
		return answer, nil
	})
}

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// Plain configures a plain controller of the configmaps: an informer, a handler that queues keys,
// and workers. Its client repeats no request by itself. The zero value is useful.
type Plain struct {
	// Reads: a pass reads its configmap from the server with the controller's client. Otherwise it
	// succeeds at once.
	Reads bool
	// Workers are the workers; 0: controller.PoolConfig's default.
	Workers int
	// FirstDelay is that of a failed key, which doubles up to LongestDelay; 0: controller.PoolConfig's
	// default.
	FirstDelay, LongestDelay time.Duration
	// Resync is the informer's period. The controller's own handler is never resynced.
	Resync time.Duration
}

// PlainController is the name of the controller's handler.
const PlainController = "controller"

// StartPlain starts a plain controller on a bare stage and waits for the informer's first list.
// It ends with the stage. An item may wait at a gate for long, so a pass has no time limit.
func (s *Stage) StartPlain(ctx context.Context, config Plain) error {
	once := s.StageConfig
	once.Server.MaxRetries = -1
	client, err := newClient(once, story.Spectators, nil)
	if err != nil {
		return err
	}
	s.added = append(s.added, client)
	const name = "configmaps"
	s.newConfigMaps(client, config.Resync)
	made := s.bare.informer
	var pool *controller.Pool
	registered, err := made.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc:    func(o *api.PartialObjectMetadata, _ bool) { pool.Add(Namespace + "/" + o.Name) },
		UpdateFunc: func(_, o *api.PartialObjectMetadata) { pool.Add(Namespace + "/" + o.Name) },
		DeleteFunc: func(deleted informer.DeletedObject[*api.PartialObjectMetadata]) { pool.Add(deleted.Key) },
	}, informer.HandlerOptions{Name: PlainController, ResyncPeriod: -1})
	if err != nil {
		return err
	}
	var limiter queue.RateLimiter[string]
	if config.FirstDelay > 0 {
		limiter = queue.NewItemExponentialFailureRateLimiter[string](config.FirstDelay, config.LongestDelay)
	}
	r := s.Recorder
	pool = controller.NewPool(controller.PoolConfig{
		Name: name, Workers: config.Workers, RateLimiter: limiter, PassTimeout: s.StageConfig.passTimeout(), DrainTimeout: time.Second,
		Reconcile: func(ctx context.Context, key string) (time.Duration, error) {
			if !config.Reads {
				return 0, nil
			}
			_, name, _ := strings.Cut(key, "/")
			_, err := s.ConfigMaps(client).Get(ctx, name, api.GetOptions{})
			return 0, err
		},
		Keys:     made.GetIndexer().ListKeys,
		Synced:   []informer.InformerSynced{registered.HasSynced},
		NewQueue: gate.HoldQueue(s.Gates, name, s.NewQueue), QueueTrace: r.Queue(name),
	})
	if err := s.runInformer(ctx); err != nil {
		return err
	}
	s.running.Go(func() { pool.Run(s.slowCtx, s.slowCtx) })
	return nil
}

// What the script does to the configmaps of a scene with a plain controller.

func configMap(name string) *api.Unstructured {
	return &api.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
}

// CreateConfigMap creates a configmap without data.
func (s *Stage) CreateConfigMap(ctx context.Context, name string) error {
	s.Tell(story.You, "kubectl -n %s create configmap %s", Namespace, name)
	_, err := s.ConfigMaps(nil).Create(ctx, configMap(name), api.UpdateOptions{})
	return err
}

// LabelConfigMap sets a label of a configmap.
func (s *Stage) LabelConfigMap(ctx context.Context, name, label, value string) error {
	s.Tell(story.You, "kubectl -n %s label configmap %s %s=%s", Namespace, name, label, value)
	return s.label(ctx, name, label, value)
}

// UpdateConfigMap updates a configmap this many times, with a pause after each.
func (s *Stage) UpdateConfigMap(ctx context.Context, name string, times int, pause time.Duration) error {
	s.Tell(story.You, "kubectl -n %s label configmap %s n=1, and so on up to n=%d", Namespace, name, times)
	for n := range times {
		if err := s.label(ctx, name, "n", strconv.Itoa(n+1)); err != nil {
			return err
		}
		if err := wait.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stage) label(ctx context.Context, name, label, value string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, label, value)
	_, err := s.ConfigMaps(nil).Patch(ctx, name, api.MergePatchType, patch, api.UpdateOptions{})
	return err
}

// DeleteConfigMap deletes a configmap.
func (s *Stage) DeleteConfigMap(ctx context.Context, name string) error {
	s.Tell(story.You, "kubectl -n %s delete configmap %s", Namespace, name)
	return s.ConfigMaps(nil).Delete(ctx, name, api.DeleteOptions{})
}
