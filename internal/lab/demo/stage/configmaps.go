package stage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
	"orrery/wait"
)

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
