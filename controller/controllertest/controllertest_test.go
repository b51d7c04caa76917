package controllertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/controllertest"
	"orrery/restclient/api"
)

// A controller sees the namespaces that the server has from the start, as an author would test it.
func TestAControllerIsTestedAgainstAServer(t *testing.T) {
	m := controller.NewManager(controller.Config{Client: controllertest.Start(t)})
	seen := make(chan string, 100)
	namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "")
	controller.New(m, "greeter", namespaces, func(_ context.Context, ns *api.Namespace) (time.Duration, error) {
		seen <- ns.Name
		return 0, nil
	}, controller.Options{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	for <-seen != "default" { // the passes are in no order
	}
	stop()
	require.NoError(t, <-ended)
}
