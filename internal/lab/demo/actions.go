package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Enter shows what is happening from now on; see [State.Enter].
func (s *Stage) Enter(now string) {
	s.Update(func(state *State) { state.Enter(now, 0) })
}

// objectsOf returns the script's client for a resource.
func (s *Stage) objectsOf(resource api.GroupVersionResource, namespace string) *restclient.Resource[*api.Unstructured] {
	return restclient.Dynamic(s.script, resource, namespace)
}

// define creates a CRD and waits until the server serves its resource.
func (s *Stage) define(ctx context.Context, definition []byte, of api.GroupVersionResource) error {
	definitions := s.objectsOf(resource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "")
	_, err := definitions.Create(ctx, decoded[*api.Unstructured](definition), api.UpdateOptions{})
	if err != nil && !api.IsAlreadyExists(err) {
		return fmt.Errorf("defining the %s: %w", of.Resource, err)
	}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := s.objectsOf(of, Namespace).List(ctx, api.ListOptions{Limit: 1})
		if api.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// fillTime is the time to fill the namespace on a terminal.
const fillTime = 2 * time.Second

// Fill creates the namespace and its content.
func (s *Stage) Fill(ctx context.Context) error {
	s.Enter(fmt.Sprintf("the namespace %s is filled; each object is an ADDED event for a spectator", Namespace))
	if err := s.CreateNamespace(ctx); err != nil {
		return err
	}
	all, inventory := 0, make([]string, len(content))
	for i, k := range content {
		all += s.numbers[i]
		inventory[i] = fmt.Sprintf("%d %s", s.numbers[i], k.Resource)
	}
	began, made := time.Now(), 0
	for i, k := range content {
		objects := s.objectsOf(k.gvr(), Namespace)
		for number := range s.numbers[i] {
			object := k.object(number)
			if _, err := objects.Create(ctx, object, api.UpdateOptions{}); err != nil {
				return fmt.Errorf("creating %s %s: %w", object.GetKind(), object.GetName(), err)
			}
			made++
			if s.live() { // slowly, so that the bars can be seen to grow
				_ = wait.Sleep(ctx, fillTime*time.Duration(made)/time.Duration(all)-time.Since(began))
			}
		}
	}
	s.Tell(You, "%d object[s] of %d types are in it: %s", made, len(content), strings.Join(inventory, ", "))
	s.Enter("the namespace is full and is about to be deleted")
	return s.Await(ctx, func(state *State) bool {
		return state.Total().Most >= all && state.Namespace.Phase != ""
	})
}

// CreateNamespace creates the namespace, empty.
func (s *Stage) CreateNamespace(ctx context.Context) error {
	s.Tell(You, "kubectl create namespace %s", Namespace)
	namespace := object("Namespace", Namespace)
	_, err := s.objectsOf(api.NamespacesResource, "").Create(ctx, namespace, api.UpdateOptions{})
	return err
}

// DeleteNamespace deletes the namespace and reports its new state.
func (s *Stage) DeleteNamespace(ctx context.Context) error {
	s.Tell(You, "kubectl delete namespace %s", Namespace)
	namespaces := s.objectsOf(api.NamespacesResource, "")
	if err := namespaces.Delete(ctx, Namespace, api.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting the namespace: %w", err)
	}
	namespace, err := namespaces.Get(ctx, Namespace, api.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the namespace: %w", err)
	}
	s.Tell(Server,
		"the namespace stays: deletionTimestamp is set, the phase is %s, spec.finalizers is %s; the server refuses "+
			"new objects in it",
		namespace.NestedString("status", "phase"),
		strings.Join(namespace.NestedStringSlice("spec", "finalizers"), ", "))
	return nil
}

// ReleaseFinalizers removes the finalizer from the custom resources, as their operator does after
// its cleanup.
func (s *Stage) ReleaseFinalizers(ctx context.Context) error {
	crontabs := s.objectsOf(content[theCronTabs].gvr(), Namespace)
	list, err := crontabs.List(ctx, api.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the custom resources: %w", err)
	}
	released, patch := 0, []byte(`{"metadata":{"finalizers":null}}`)
	for _, crontab := range list.Items {
		if len(crontab.GetFinalizers()) == 0 {
			continue
		}
		_, err := crontabs.Patch(ctx, crontab.GetName(), api.MergePatchType, patch, api.UpdateOptions{})
		if err != nil && !api.IsNotFound(err) {
			return fmt.Errorf("releasing %s: %w", crontab.GetName(), err)
		}
		released++
	}
	s.Tell(Operator, "has made its backups and removes the finalizer from %d crontab[s]; "+
		"the server removes them at once", released)
	return nil
}

// eachConfigMap calls do with the names of the first n configmaps, or of all if there are less.
func (s *Stage) eachConfigMap(n int, do func(name string) error) error {
	for number := range min(n, s.numbers[theConfigMaps]) {
		if err := do(content[theConfigMaps].object(number).GetName()); err != nil {
			return err
		}
	}
	return nil
}

// labelAll changes every configmap.
func labelAll(label string) step {
	return func(on *Stage, ctx context.Context) error {
		on.Tell(You, "kubectl -n %s label configmaps --all %s=yes", Namespace, label)
		return on.eachConfigMap(on.Objects, func(name string) error { return on.label(ctx, name, label+"=yes") })
	}
}

// DeleteSome deletes the first n configmaps, or all if there are less.
func (s *Stage) DeleteSome(ctx context.Context, n int) (deleted int, err error) {
	err = s.eachConfigMap(n, func(name string) error {
		deleted++
		return s.ConfigMaps(nil).Delete(ctx, name, api.DeleteOptions{})
	})
	s.Tell(You, "kubectl -n %s delete configmaps: %d object[s]", Namespace, deleted)
	return deleted, err
}

// ShowWhy reports the conditions of the namespace as kubectl describe shows them, if it still
// exists.
func (s *Stage) ShowWhy(ctx context.Context) error {
	return s.eachCondition(ctx, api.NamespacesResource, Namespace, func(condition map[string]any) {
		if condition["status"] == string(api.ConditionTrue) {
			s.Tell(You, "kubectl describe namespace %s: %v, because: %v", Namespace,
				condition["type"], condition["message"])
		}
	})
}

// eachCondition calls each with the conditions of a cluster-wide object, if it still exists.
func (s *Stage) eachCondition(
	ctx context.Context, of api.GroupVersionResource, name string, each func(condition map[string]any),
) error {
	object, err := s.objectsOf(of, "").Get(ctx, name, api.GetOptions{})
	if api.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", of.Resource, name, err)
	}
	conditions, _ := object.Nested("status", "conditions").([]any)
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		each(condition)
	}
	return nil
}

// BrokenAPI is the name of an APIService whose service does not exist.
const BrokenAPI = "v1beta1.metrics.k8s.io"

var apiServices = resource("apiregistration.k8s.io", "v1", "apiservices")

// BreakAPI creates the APIService and reports its condition.
func (s *Stage) BreakAPI(ctx context.Context) error {
	service := decoded[*api.Unstructured](file("apiservice.yaml"))
	if _, err := s.objectsOf(apiServices, "").Create(ctx, service, api.UpdateOptions{}); err != nil {
		return fmt.Errorf("creating APIService %s: %w", BrokenAPI, err)
	}
	s.Tell(You,
		"kubectl create -f apiservice.yaml: %s names the service kube-system/metrics-server, which does not exist",
		BrokenAPI)
	return s.ShowAPI(ctx)
}

// ShowAPI reports the APIService's condition Available, if it still exists.
func (s *Stage) ShowAPI(ctx context.Context) error {
	return s.eachCondition(ctx, apiServices, BrokenAPI, func(condition map[string]any) {
		if condition["type"] == "Available" {
			s.Tell(You, "kubectl get apiservice %s: Available is %v (%v), because: %v", BrokenAPI,
				condition["status"], condition["reason"], condition["message"])
		}
	})
}

// DeleteAPI deletes the APIService if it still exists.
func (s *Stage) DeleteAPI(ctx context.Context) error {
	err := s.objectsOf(apiServices, "").Delete(ctx, BrokenAPI, api.DeleteOptions{})
	if api.IsNotFound(err) {
		s.Tell(You, "the APIService %s is already gone: another client deleted it", BrokenAPI)
		return nil
	}
	if err == nil {
		s.Tell(You, "kubectl delete apiservice %s: an API without a service is removed", BrokenAPI)
	}
	return err
}
