package e2e

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/examples/apps"
	"orrery/examples/deployment"
	"orrery/examples/replicaset"
	"orrery/examples/worker"
	"orrery/informer"
	"orrery/internal/gears"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
	"orrery/upstream/controlplane"
	"orrery/wait"
)

// TestOfficialWorkloadSpecs runs Kubernetes' own specs for ReplicaSets and Deployments against the two controllers of the
// examples, on a genuine control plane whose kube-controller-manager has neither.
func TestOfficialWorkloadSpecs(t *testing.T) {
	t.Parallel()
	server, err := controlplane.Start(t.Context(), controlplane.Config{
		FakeNodes:           2,
		NamespaceController: true,
		Controllers:         append(controlplane.DefaultControllers(), "resourcequota-controller"),
		Log:                 t.Output(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	set, err := gears.Parse(cmp.Or(os.Getenv("E2E_GEARS"), gears.Fast))
	require.NoError(t, err)
	runWorkloads(t, server.Kubeconfig(), set)

	var report bytes.Buffer
	err = RunOfficialSpecs(t.Context(), server.Kubeconfig(), &report, "--of=workloads")
	if err != nil {
		t.Log(report.String())
	}
	require.NoError(t, err)
}

// runWorkloads runs both controllers in this process until the test ends.
func runWorkloads(t *testing.T, path string, set gears.Set) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	config.QPS, config.Codec = -1, set.Codec()
	client, err := restclient.New(config)
	require.NoError(t, err)
	deployments := collection[*apps.Deployment](client, apps.DeploymentsResource, set)
	sets := collection[*apps.ReplicaSet](client, apps.ReplicaSetsResource, set)
	pods := collection[*apps.Pod](client, api.PodsResource, set)
	pool := worker.Config{NewQueue: set.NewQueue}
	upper, err := deployment.NewController(deployment.Config{Deployments: deployments, ReplicaSets: sets, Pods: pods, Worker: pool})
	require.NoError(t, err)
	lower, err := replicaset.NewController(replicaset.Config{ReplicaSets: sets, Pods: pods, Worker: pool})
	require.NoError(t, err)

	ctx, stop := context.WithCancel(context.Background())
	var running wait.Group
	for _, run := range []func(context.Context) error{deployments.Informer.Run, sets.Informer.Run, pods.Informer.Run} {
		running.StartWithContext(ctx, func(ctx context.Context) { _ = run(ctx) })
	}
	running.Start(func() { upper.RunWithin(ctx, ctx) })
	running.Start(func() { lower.RunWithin(ctx, ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
		client.Close()
	})
}

func collection[T apps.Owned](client *restclient.Client, resource api.GroupVersionResource, set gears.Set) apps.Collection[T] {
	typed := restclient.Typed[T](client, resource, "")
	return apps.NewCollection(informer.NewSharedIndexInformer(typed, informer.Config[T]{
		Name: resource.Resource, Gears: gears.Informer[T](set),
	}), typed)
}
