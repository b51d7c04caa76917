package demo

import (
	"context"

	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
)

// LabelAll changes every object of a type.
func (s *Stage) LabelAll(ctx context.Context, name, label string) error {
	for i, k := range content {
		if k.resource.Resource != name {
			continue
		}
		s.Tell(story.You, "kubectl -n %s label %s --all %s=yes", Namespace, name, label)
		for number := range s.numbers[i] {
			patch := []byte(`{"metadata":{"labels":{"` + label + `":"yes"}}}`)
			objects := s.objectsOf(k.resource, Namespace)
			_, err := objects.Patch(ctx, k.name(number), api.MergePatchType, patch, api.UpdateOptions{})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// DeleteSome deletes the first n objects of a type.
func (s *Stage) DeleteSome(ctx context.Context, name string, n int) (deleted int, err error) {
	for i, k := range content {
		if k.resource.Resource != name {
			continue
		}
		for number := range min(n, s.numbers[i]) {
			if err := s.objectsOf(k.resource, Namespace).Delete(ctx, k.name(number), api.DeleteOptions{}); err != nil {
				return deleted, err
			}
			deleted++
		}
	}
	s.Tell(story.You, "kubectl -n %s delete %s: %d object[s]", Namespace, name, deleted)
	return deleted, nil
}
