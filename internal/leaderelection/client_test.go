package leaderelection_test

import (
	"context"
	"crypto/tls"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/leaderelection"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// An HTTP/2 connection that all requests share goes dead without a notice. A leader has ten
// seconds, and the pings that find such connections take longer. The server is reachable, so the
// leader must not lose its Lease.
func TestALeaderLeavesADeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
		require.NoError(t, err)
		pipes := restclienttest.NewTLSServer(t, server.Handler(), restclienttest.NewAuthority(t), func(config *tls.Config) {
			config.NextProtos = []string{"h2"}
		})
		defer server.Stop(context.Background())
		client, err := leaderelection.NewClient(pipes.Config(), leaderelection.DefaultRenewDeadline)
		require.NoError(t, err)
		defer client.Close()
		elector, err := leaderelection.New(leaderelection.Config{
			Leases: restclient.Typed[*api.Lease](client, api.LeasesResource, "kube-system"), Namespace: "kube-system", Name: "orrery", Identity: "a",
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- elector.Run(ctx, func(alive context.Context, _ leaderelection.Term) {
				select {
				case <-ctx.Done():
				case <-alive.Done():
				}
			})
		}()
		time.Sleep(5 * time.Second)
		require.True(t, elector.Snapshot().Leading)
		pipes.Silence()
		time.Sleep(time.Minute)
		assert.True(t, elector.Snapshot().Leading)
		stop()
		assert.NoError(t, <-ended)
	})
}
