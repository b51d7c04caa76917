package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/examples/apps"
	"orrery/examples/deployment"
	"orrery/examples/replicaset"
	"orrery/informer"
	"orrery/internal/lab/apiserver/kubelet"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Workloads are the controllers of deployments and replica sets, and one deployment.
type Workloads struct {
	stage       *Stage
	deployments *restclient.Resource[*apps.Deployment] // the script's
}

// Shop is the name of the deployment.
const Shop = "shop"

// AddWorkloads starts the two controllers, as [ControllerUser] but with a client of their own,
// which counts nothing. They end with the stage.
func (s *Stage) AddWorkloads(ctx context.Context) (*Workloads, error) {
	server := s.config.Server
	server.Credentials, server.Codec, server.QPS = s.config.Credentials[story.Controller], s.config.Gears.Codec(), -1
	client, err := restclient.New(server)
	if err != nil {
		return nil, err
	}
	factory := &informer.SharedInformerFactory{}
	deployments := collection[*apps.Deployment](factory, client, apps.DeploymentsResource, s.config.Gears)
	sets := collection[*apps.ReplicaSet](factory, client, apps.ReplicaSetsResource, s.config.Gears)
	pods := collection[*apps.Pod](factory, client, api.PodsResource, s.config.Gears)
	pool := controller.PoolConfig{NewQueue: s.config.NewQueue, DrainTimeout: time.Second,
		PassTimeout: s.config.passTimeout()}
	upper, err := deployment.NewController(deployment.Config{
		Deployments: deployments, ReplicaSets: sets, Pods: pods, Worker: pool, Trace: s.tellRollout(),
	})
	if err != nil {
		return nil, err
	}
	lower, err := replicaset.NewController(replicaset.Config{ReplicaSets: sets, Pods: pods, Worker: pool, Trace: s.tellReplicas()})
	if err != nil {
		return nil, err
	}
	informersCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	if err := factory.Start(informersCtx); err != nil {
		stop()
		return nil, err
	}
	s.running.Go(func() {
		var working wait.Group
		working.Start(func() { upper.RunWithin(s.slowCtx, s.slowCtx) })
		working.Start(func() { lower.RunWithin(s.slowCtx, s.slowCtx) })
		working.Wait()
		stop()
		factory.Shutdown()
		client.Close()
	})
	s.Tell(story.Demo, "two more controllers start, on three informers: deployments, replica sets, pods")
	return &Workloads{stage: s, deployments: restclient.Typed[*apps.Deployment](s.script, apps.DeploymentsResource, Namespace)}, nil
}

func collection[T apps.Owned](factory *informer.SharedInformerFactory, client *restclient.Client, resource api.GroupVersionResource, set gears.Set) apps.Collection[T] {
	typed := restclient.Typed[T](client, resource, "")
	return apps.NewCollection(informer.InformerFor(factory, resource.Resource, func(time.Duration) *informer.SharedIndexInformer[T] {
		return informer.NewSharedIndexInformer(typed, informer.Config[T]{Name: resource.Resource, Gears: gears.Informer[T](set)})
	}), typed)
}

func (s *Stage) tellRollout() *deployment.Trace {
	return &deployment.Trace{
		Created: func(d *apps.Deployment, set *apps.ReplicaSet) {
			s.Tell(story.Worker, "deployment %s: no replica set has this template; creates %s with %s",
				d.Name, set.Name, story.Count(set.Spec.Replicas, "pod"))
		},
		Scaled: func(d *apps.Deployment, set *apps.ReplicaSet, to int) {
			s.Tell(story.Worker, "deployment %s: scales %s from %d to %s",
				d.Name, set.Name, set.Spec.Replicas, story.Count(to, "pod"))
		},
	}
}

func (s *Stage) tellReplicas() *replicaset.Trace {
	return &replicaset.Trace{
		Created: func(set *apps.ReplicaSet, pod string, err error) {
			if err == nil {
				s.Tell(story.Worker, "replica set %s: creates pod %s", set.Name, pod)
			}
		},
		Deleted: func(set *apps.ReplicaSet, pod string, err error) {
			if err == nil {
				s.Tell(story.Worker, "replica set %s: deletes pod %s", set.Name, pod)
			}
		},
		Waiting: func(set *apps.ReplicaSet) {
			s.Tell(story.Worker, "replica set %s: expectations are open, so the store is stale: creates nothing", set.Name)
		},
	}
}

// Deploy creates the deployment.
func (w *Workloads) Deploy(ctx context.Context, replicas int) error {
	w.stage.Tell(story.You, "kubectl -n %s create deployment %s --image=shop/front:1 --replicas=%d", Namespace, Shop, replicas)
	podSpec := json.RawMessage(`{"containers":[{"name":"front","image":"shop/front:1"}]}`)
	labels := map[string]string{"app": Shop}
	template := apps.PodTemplate{Spec: podSpec}
	template.Labels, template.Annotations = labels, map[string]string{kubelet.StopsAfter: "1s"}
	object := &api.Unstructured{Object: map[string]any{
		"apiVersion": apps.GroupVersion, "kind": apps.DeploymentKind, "metadata": map[string]any{"name": Shop},
		"spec": map[string]any{"replicas": replicas, "selector": apps.LabelSelector{MatchLabels: labels}, "template": template},
	}}
	if _, err := w.stage.objectsOf(apps.DeploymentsResource, Namespace).Create(ctx, object, api.UpdateOptions{}); err != nil {
		return fmt.Errorf("creating the deployment: %w", err)
	}
	return nil
}

// Scale changes the number of replicas.
func (w *Workloads) Scale(ctx context.Context, replicas int) error {
	w.stage.Tell(story.You, "kubectl -n %s scale deployment %s --replicas=%d", Namespace, Shop, replicas)
	return w.patch(ctx, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}

// SetImage changes the image.
func (w *Workloads) SetImage(ctx context.Context, image string) error {
	w.stage.Tell(story.You, "kubectl -n %s set image deployment/%s front=%s", Namespace, Shop, image)
	return w.patch(ctx, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"front","image":%q}]}}}}`, image))
}

func (w *Workloads) patch(ctx context.Context, patch string) error {
	_, err := w.deployments.Patch(ctx, Shop, api.MergePatchType, []byte(patch), api.UpdateOptions{})
	return err
}

// RolledOut returns when the rollout is complete, as kubectl rollout status does.
func (w *Workloads) RolledOut(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		d, err := w.deployments.Get(ctx, Shop, api.GetOptions{})
		if err != nil {
			return false, err
		}
		s, replicas := d.Status, d.Spec.Replicas
		over := s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == replicas && s.Replicas == replicas && s.AvailableReplicas == replicas
		if over {
			w.stage.Tell(story.You, "kubectl -n %s rollout status deployment/%s: successfully rolled out, %d of %d pods serve",
				Namespace, Shop, s.AvailableReplicas, replicas)
		}
		return over, nil
	})
}

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
