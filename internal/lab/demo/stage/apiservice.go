package stage

import (
	"context"
	"fmt"

	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
)

// BrokenAPI is the name of an APIService whose service does not exist: what is left behind of a
// metrics server that was uninstalled carelessly.
const BrokenAPI = "v1beta1.metrics.k8s.io"

var apiServices = resource("apiregistration.k8s.io", "v1", "apiservices")

// BreakAPI creates the APIService and reports its condition.
func (s *Stage) BreakAPI(ctx context.Context) error {
	services := s.objectsOf(apiServices, "")
	service := &api.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": BrokenAPI},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "kube-system", "name": "metrics-server"},
		},
	}}
	if _, err := services.Create(ctx, service, api.UpdateOptions{}); err != nil {
		return fmt.Errorf("creating APIService %s: %w", BrokenAPI, err)
	}
	s.Tell(story.You, "kubectl create -f apiservice.yaml: %s names the service kube-system/metrics-server, which does not exist", BrokenAPI)
	return s.ShowAPI(ctx)
}

// ShowAPI reports the APIService's condition Available, if it still exists.
func (s *Stage) ShowAPI(ctx context.Context) error {
	service, err := s.objectsOf(apiServices, "").Get(ctx, BrokenAPI, api.GetOptions{})
	if api.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading APIService %s: %w", BrokenAPI, err)
	}
	conditions, _ := service.Nested("status", "conditions").([]any)
	for _, entry := range conditions {
		if condition, _ := entry.(map[string]any); condition["type"] == "Available" {
			s.Tell(story.You, "kubectl get apiservice %s: Available is %v (%v), because: %v", BrokenAPI,
				condition["status"], condition["reason"], condition["message"])
		}
	}
	return nil
}

// DeleteAPI deletes the APIService if it still exists.
func (s *Stage) DeleteAPI(ctx context.Context) error {
	err := s.objectsOf(apiServices, "").Delete(ctx, BrokenAPI, api.DeleteOptions{})
	switch {
	case api.IsNotFound(err):
		s.Tell(story.You, "the APIService %s is already gone: another client deleted it", BrokenAPI)
	case err != nil:
		return fmt.Errorf("deleting APIService %s: %w", BrokenAPI, err)
	default:
		s.Tell(story.You, "kubectl delete apiservice %s: an API without a service is removed", BrokenAPI)
	}
	return nil
}
