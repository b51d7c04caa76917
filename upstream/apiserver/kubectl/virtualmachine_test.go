package kubectl

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// steady is a driver whose servers have a constant usage.
type steady struct{ *driver.Memory }

func (d steady) GetServerStatus(ctx context.Context, name string) (driver.Status, error) {
	status, err := d.Memory.GetServerStatus(ctx, name)
	status.MemoryPercentage = 0.10977787071142493 // the article's
	return status, err
}

// runVirtualMachines runs the controller of examples/virtualmachine, which waits for its resource,
// until the test ends.
func runVirtualMachines(t *testing.T, path string) {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	cache := informer.NewSharedIndexInformer(machines, informer.Config[*virtualmachine.VirtualMachine]{
		Name: "virtualmachines",
		Reflector: reflector.Config[*virtualmachine.VirtualMachine]{
			Backoff: reflector.BackoffConfig{Max: time.Second}, // the resource comes and goes
		},
	})
	controller, err := virtualmachine.NewController(virtualmachine.Config{
		Machines: cache, Client: machines, Driver: steady{&driver.Memory{}}, UsagePeriod: time.Hour,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { cache.Run(ctx) })
	running.Go(func() { controller.RunWithin(ctx, ctx) })
	t.Cleanup(func() { stop(); running.Wait(); client.Close() })
}
