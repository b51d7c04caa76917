package apps_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/examples/apps"
	"orrery/informer"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

const (
	deploymentsPath = "/apis/apps/v1/namespaces/default/deployments"
	setsPath        = "/apis/apps/v1/namespaces/default/replicasets"
	podsPath        = "/api/v1/namespaces/default/pods"
	webPath         = deploymentsPath + "/web"
)

// world is a cluster with both controllers and a watch on the pods.
type world struct {
	*clustertest.Cluster
	t      *testing.T
	gears  gears.Set
	adjust func(*apps.ReplicaSetController)
	trace  apps.ReplicaSetTrace

	mu   sync.Mutex
	seen map[string]*apps.Pod // by name, as the watch reports them
	most int                  // most active pods since the last call of watched
	few  int                  // fewest available pods
	// mixed reports whether pods of two sets existed at a time, including terminating pods. It is
	// never reset.
	mixed bool
}

func inBothGears(t *testing.T, play func(w *world)) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) { play(newWorld(t, set)) })
}

func newWorld(t *testing.T, set gears.Set) *world {
	w := &world{Cluster: clustertest.New(t), t: t, gears: set, seen: map[string]*apps.Pod{}}
	w.watch()
	return w
}

// watch counts pods at every event.
func (w *world) watch() {
	pods := clustertest.Collection[*apps.Pod](w.Admin(), api.PodsResource, gears.Set{})
	_, err := pods.Informer.AddEventHandler(informer.ResourceEventHandlerFuncs[*apps.Pod]{
		AddFunc:    func(pod *apps.Pod, _ bool) { w.count(pod.Name, pod) },
		UpdateFunc: func(_, pod *apps.Pod) { w.count(pod.Name, pod) },
		DeleteFunc: func(deleted informer.DeletedObject[*apps.Pod]) { w.count(deleted.Object.Name, nil) },
	})
	require.NoError(w.t, err)
	w.Start(pods.Informer.Run)
}

func (w *world) count(name string, pod *apps.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[name] = pod
	active, ready, hash := 0, 0, ""
	for _, pod := range w.seen {
		if pod == nil {
			continue
		}
		w.mixed = w.mixed || hash != "" && hash != pod.Labels[apps.TemplateHashLabel]
		hash = pod.Labels[apps.TemplateHashLabel]
		if !pod.IsActive() {
			continue
		}
		active++
		if _, serves := pod.IsReady(); serves {
			ready++
		}
	}
	w.most, w.few = max(w.most, active), min(w.few, ready)
}

// watched returns the maximum number of pods since the last call, and the minimum of available
// ones.
func (w *world) watched() (most, few int) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	most, few = w.most, w.few
	w.most, w.few = 0, 1000
	return most, few
}

// start runs both controllers on one set of caches. kill ends them at any point of a pass.
func (w *world) start() (kill context.CancelFunc, ended <-chan struct{}) {
	client := w.Client()
	deployments := clustertest.Collection[*apps.Deployment](client, apps.DeploymentsResource, w.gears)
	sets := clustertest.Collection[*apps.ReplicaSet](client, apps.ReplicaSetsResource, w.gears)
	pods := clustertest.Collection[*apps.Pod](client, api.PodsResource, w.gears)
	pool := controller.PoolConfig{NewQueue: w.gears.NewQueue}
	upper, err := apps.NewDeploymentController(apps.DeploymentConfig{
		Deployments: deployments, ReplicaSets: sets, Pods: pods, Worker: pool,
	})
	require.NoError(w.t, err)
	lower, err := apps.NewReplicaSetController(apps.ReplicaSetConfig{
		ReplicaSets: sets, Pods: pods, Worker: pool, Trace: &w.trace,
	})
	require.NoError(w.t, err)
	if w.adjust != nil {
		w.adjust(lower)
	}
	return w.Start(deployments.Informer.Run, sets.Informer.Run, pods.Informer.Run,
		func(ctx context.Context) error { upper.Pool.Run(ctx, ctx); return nil },
		func(ctx context.Context) error { lower.Pool.Run(ctx, ctx); return nil })
}
