package e2e

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/examples/garbagecollector"
	"orrery/examples/monitor"
	"orrery/examples/worker"
	"orrery/informer"
	"orrery/internal/gears"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/kubeconfig"
	"orrery/upstream/controlplane"
)

// TestOfficialGarbageSpecs runs Kubernetes' own specs for the garbage collector against that of the examples, on a genuine control
// plane with every other controller of kube-controller-manager.
func TestOfficialGarbageSpecs(t *testing.T) {
	t.Parallel()
	server, err := controlplane.Start(t.Context(), controlplane.Config{
		FakeNodes:           2,
		NamespaceController: true,
		Controllers:         []string{"*", "-garbage-collector-controller"},
		Log:                 t.Output(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	set, err := gears.Parse(cmp.Or(os.Getenv("E2E_GEARS"), gears.Fast))
	require.NoError(t, err)
	runCollector(t, server.Kubeconfig(), set)

	var report bytes.Buffer
	err = RunOfficialSpecs(t.Context(), server.Kubeconfig(), &report, "--of=garbage")
	if err != nil {
		t.Log(report.String())
	}
	require.NoError(t, err)
}

// runCollector runs the garbage collector in this process until the test ends.
func runCollector(t *testing.T, path string, set gears.Set) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	config.QPS, config.Codec = -1, set.Codec()
	client, err := restclient.New(config)
	require.NoError(t, err)
	collector, err := garbagecollector.NewController(garbagecollector.Config{
		Monitor: monitor.Config{
			Discovery: discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true}),
			Heads: func(resource api.GroupVersionResource, namespace string) monitor.Heads {
				return restclient.Metadata(client, resource, namespace)
			},
			Informer: func(api.GroupVersionResource) informer.Config[*api.PartialObjectMetadata] {
				return informer.Config[*api.PartialObjectMetadata]{Gears: gears.Informer[*api.PartialObjectMetadata](set)}
			},
		},
		Worker: worker.Config{NewQueue: set.NewQueue},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		collector.RunWithin(ctx, ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		client.Close()
	})
}
