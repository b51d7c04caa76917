package stage

import (
	"time"

	"orrery/informer"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
	"orrery/restclient/api"
)

// spectator is an informer that draws a bar.
type spectator = informer.SharedIndexInformer[*api.PartialObjectMetadata]

// newSpectators returns a metadata-only informer for each type of the content. The reflectors of
// the reported types show their lists and watches.
func newSpectators(config Config, client *restclient.Client, factory *informer.SharedInformerFactory, reported map[string]bool) (map[string]*spectator, error) {
	teller := config.Teller
	spectators := map[string]*spectator{}
	for _, k := range content {
		name := k.resource.Resource
		var v *voice
		if reported[name] {
			v = newVoice(teller, name, "")
		}
		m := &meter{teller: teller, objectsChanged: func(s *story.State, objects int) {
			s.Count(name, objects)
			if name == "pods" && objects == 0 {
				s.Tell(story.Server, "the kubelet reports that the last pod has ended")
			}
		}}
		made := newInformer(restclient.Metadata(client, k.resource, Namespace), name, config, m, v)
		if _, err := made.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{},
			informer.HandlerOptions{Name: "spectator"}); err != nil {
			return nil, err
		}
		spectators[name] = informer.InformerFor(factory, name, func(time.Duration) *spectator { return made })
	}
	return spectators, nil
}
