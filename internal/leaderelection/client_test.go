package leaderelection_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
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

// A connection over HTTP/2 goes dead: nobody says so, and all requests share it. A leader has ten seconds, and the pings that
// find such connections take longer. The server can be reached, so it must not lose its Lease.
func TestALeaderLeavesADeadConnection(t *testing.T) {
	for name, reconnect := range map[string]bool{"with another one": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
				require.NoError(t, err)
				pipes := restclienttest.NewTLSServer(t, server.Handler(), restclienttest.NewAuthority(t), func(config *tls.Config) {
					config.NextProtos = []string{"h2"}
				})
				defer server.Stop(context.Background())
				client, err := leaderelection.NewClient(pipes.Config(), "kube-system", leaderelection.DefaultRenewDeadline)
				require.NoError(t, err)
				defer client.Close()
				config := leaderelection.Config{Leases: client, Namespace: "kube-system", Name: "orrery", Identity: "a"}
				if reconnect {
					config.Reconnect = client.Reconnect
				}
				elector, err := leaderelection.New(config)
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
				assert.Equal(t, reconnect, elector.Snapshot().Leading)
				stop()
				if err := <-ended; reconnect {
					assert.NoError(t, err)
				} else {
					assert.Error(t, err, "this is what it is good for")
				}
			})
		})
	}
}

// A file of the configuration may be missing for a moment, while it is being replaced.
func TestReconnectKeepsWhatItHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	config := restclient.Config{Host: "https://apiserver.test", TLS: restclient.TLS{CAFile: file}}
	_, err := leaderelection.NewClient(config, "kube-system", time.Second)
	require.Error(t, err, "there is no such file")

	require.NoError(t, os.WriteFile(file, restclienttest.NewAuthority(t).PEM(), 0o600))
	dialled := 0
	config.Dial = func(context.Context, string, string) (net.Conn, error) {
		dialled++
		return nil, errors.New("nobody there")
	}
	client, err := leaderelection.NewClient(config, "kube-system", time.Second)
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, os.Remove(file))
	client.Reconnect()
	_, err = client.Get(t.Context(), "orrery", api.GetOptions{})
	assert.ErrorContains(t, err, "nobody there")
	assert.NotZero(t, dialled)
}
