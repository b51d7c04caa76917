package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/gears"
	"orrery/internal/lab/demo/story"
	"orrery/internal/lab/view"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/restclient/api"
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
	informer *Informer          // the last one of NewInformer
}

// NewClient returns a client of the spectators' user, with a trace in addition to the counting of
// requests. A gateway is between it and the server; see [Stage.AnswerNextWatch]. The client ends
// with the stage.
func (s *Stage) NewClient(trace *restclient.Trace) (*restclient.Client, error) {
	config := s.config
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

// NewInformer returns a new informer of the configmaps with the stage's gears, whose reflector
// tells. [Stage.RunInformer] starts it.
func (s *Stage) NewInformer(client *restclient.Client, config informer.Config[*api.PartialObjectMetadata]) *Informer {
	config.Name, config.Gears = "configmaps", gears.Informer[*api.PartialObjectMetadata](s.config.Gears)
	told := newVoice(s.config.Teller, config.Name, "").reflector((&meter{teller: s.config.Teller}).reflector())
	r := s.config.Recorder
	config.Reflector.Trace = reflector.JoinTraces(told, config.Reflector.Trace, r.Reflector(config.Name))
	config.QueueTrace = deltafifo.JoinTraces(config.QueueTrace, trace.FIFO[*api.PartialObjectMetadata](r, config.Name))
	config.StoreTrace = indexer.JoinTraces(config.StoreTrace, r.Store(config.Name))
	config.Trace = informer.JoinTraces(config.Trace, r.Informer(config.Name))
	objects := restclient.Metadata(client, core("configmaps"), Namespace)
	source, config := view.Informer(s.config.Gates, informer.ListerWatcher[*api.PartialObjectMetadata](objects), config)
	s.bare.informer = informer.NewSharedIndexInformer(source, config)
	return s.bare.informer
}

// RunInformer starts an informer and waits for its first list. The informer ends with the stage.
func (s *Stage) RunInformer(ctx context.Context, started *Informer) error {
	s.running.Go(func() { _ = started.Run(s.slowCtx) })
	return informer.WaitForSync(ctx, started)
}

// idle is a handler that does nothing.
var idle = informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{}

// AddHandler adds a handler that does nothing to the last informer of [Stage.NewInformer].
func (s *Stage) AddHandler(name string, resync time.Duration) error {
	if s.bare.informer == nil {
		return errors.New("the scene has no informer yet")
	}
	_, err := s.bare.informer.AddEventHandlerWithOptions(idle, informer.HandlerOptions{Name: name, ResyncPeriod: resync})
	return err
}
