package stage

import (
	"strings"

	"orrery/informer"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
)

// viewer is a second handler on the controller's informer that keeps the display's state of the
// namespace.
type viewer struct{ teller *story.Teller }

// OnAdd implements informer.ResourceEventHandler.
func (v viewer) OnAdd(namespace *api.Namespace, _ bool) { v.show(namespace) }

// OnUpdate implements informer.ResourceEventHandler.
func (v viewer) OnUpdate(_, namespace *api.Namespace) { v.show(namespace) }

// OnDelete implements informer.ResourceEventHandler.
func (v viewer) OnDelete(deleted informer.DeletedObject[*api.Namespace]) {
	if deleted.Key != Namespace {
		return
	}
	v.teller.Update(func(s *story.State) {
		s.Namespace = story.Namespace{Name: Namespace, Phase: story.Gone}
	})
}

func (v viewer) show(namespace *api.Namespace) {
	if namespace.Name != Namespace {
		return
	}
	v.teller.Update(func(s *story.State) {
		s.Namespace = story.Namespace{Name: Namespace, Phase: string(namespace.Status.Phase)}
		for _, finalizer := range namespace.Spec.Finalizers {
			s.Namespace.Finalizers = append(s.Namespace.Finalizers, string(finalizer))
		}
		for _, c := range namespace.Status.Conditions {
			if c.Status == api.ConditionTrue {
				s.Namespace.Conditions = append(s.Namespace.Conditions, story.Condition{
					Type: strings.TrimSpace(string(c.Type)), Message: c.Message})
			}
		}
	})
}
