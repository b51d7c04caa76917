package stage

import (
	"context"
	"fmt"
	"strings"

	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
)

// familyLabel marks an owner and its dependents.
const familyLabel = "demo.orrery/family"

// CreateFamily creates an owner with two dependents, all of them ConfigMaps in the namespace.
func (s *Stage) CreateFamily(ctx context.Context, owner string) error {
	s.Tell(story.You, "kubectl -n %s apply: ConfigMap %s, and its dependents %s-a and %s-b with metadata.ownerReferences", Namespace, owner, owner, owner)
	objects := s.objectsOf(resource("", "v1", "configmaps"), Namespace)
	var references []any
	for _, name := range []string{owner, owner + "-a", owner + "-b"} {
		metadata := map[string]any{"name": name, "labels": map[string]any{familyLabel: owner}}
		if references != nil {
			metadata["ownerReferences"] = references
		}
		created, err := objects.Create(ctx, &api.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
		}}, api.UpdateOptions{})
		if err != nil {
			return fmt.Errorf("creating %s: %w", name, err)
		}
		if references == nil {
			references = []any{map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": created.GetUID(), "blockOwnerDeletion": true,
			}}
		}
	}
	return nil
}

// DeleteFamily deletes an owner with a propagation policy and reports what happens to the family,
// until the expected number of objects has gone.
func (s *Stage) DeleteFamily(ctx context.Context, owner string, policy api.DeletePropagation) error {
	objects := s.objectsOf(resource("", "v1", "configmaps"), Namespace)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	list, err := objects.List(ctx, api.ListOptions{LabelSelector: familyLabel + "=" + owner})
	if err != nil {
		return err
	}
	watch, err := objects.Watch(ctx, api.ListOptions{LabelSelector: familyLabel + "=" + owner, ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	defer watch.Stop()
	s.Tell(story.You, "kubectl -n %s delete configmap %s --cascade=%s", Namespace, owner, strings.ToLower(string(policy)))
	if err := objects.Delete(ctx, owner, api.DeleteOptions{PropagationPolicy: policy}); err != nil {
		return fmt.Errorf("deleting %s: %w", owner, err)
	}
	left := len(list.Items)
	if policy == api.DeletePropagationOrphan {
		left = 1
	}
	for left > 0 {
		event, err := watch.Next()
		if err != nil {
			return fmt.Errorf("watching %s: %w", owner, err)
		}
		o := event.Object
		switch {
		case event.Type == api.WatchDeleted:
			left--
			s.Tell(story.Server, "%s has gone", o.GetName())
		case event.Type != api.WatchModified:
		case o.GetDeletionTimestamp() != nil:
			s.Tell(story.Server, "%s is being deleted; its finalizers are %v", o.GetName(), o.GetFinalizers())
		case o.Nested("metadata", "ownerReferences") == nil:
			s.Tell(story.Server, "%s has no ownerReferences any more", o.GetName())
		}
	}
	return nil
}
