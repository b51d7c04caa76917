package stage

import (
	"cmp"
	"context"
	"net/http"

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

// NewClient returns a client of the spectators' user, with a trace in addition to the counting of
// requests. wrap may be nil; see [restclient.Config]. The client ends with the stage.
func (s *Stage) NewClient(trace *restclient.Trace, wrap func(http.RoundTripper) http.RoundTripper) (*restclient.Client, error) {
	config := s.config
	config.Server.WrapTransport = wrap
	client, err := newClient(config, story.Spectators, trace)
	if err == nil {
		s.added = append(s.added, client)
	}
	return client, err
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
	made := informer.NewSharedIndexInformer(source, config)
	r.RepairInformer(config.Name, made)
	return made
}

// RunInformer starts an informer and waits for its first list. The informer ends with the stage.
func (s *Stage) RunInformer(ctx context.Context, started *Informer) error {
	s.running.Go(func() { _ = started.Run(s.slowCtx) })
	return informer.WaitForSync(ctx, started)
}
