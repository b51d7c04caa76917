package clustertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/informer"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// RunNamespaceController runs the namespace controller as [ControllerUser] until the context
// ends. The channel is closed when it has ended.
func (c *Cluster) RunNamespaceController(ctx context.Context, set gears.Set) (ended <-chan struct{}) {
	c.t.Helper()
	client := c.Client(func(config *restclient.Config) { config.Codec = set.Codec() })
	typed := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	namespaces := informer.NewSharedIndexInformer(typed,
		informer.Config[*api.Namespace]{Name: "namespaces", Gears: gears.Informer[*api.Namespace](set)})
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: namespaces, Pool: controller.PoolConfig{NewQueue: set.NewQueue, DrainTimeout: time.Second},
		Deleter: gears.Choose(set, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)(nsctl.DeleterConfig{
			Namespaces: typed, Content: nsctl.NewContentClient(client),
			Discovery: discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true})),
		}),
	})
	require.NoError(c.t, err)
	return Run(ctx,
		func(ctx context.Context) error { namespaces.Run(ctx); return nil },
		func(ctx context.Context) error { controller.Run(ctx); return nil },
	)
}
