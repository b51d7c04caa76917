package demo

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// countedConn is a connection that is counted while it is open.
type countedConn struct {
	net.Conn
	closed func()
}

func (c countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

func TestClientsOfASceneEndWithTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := staged(t, Scene{}, "")
		var open atomic.Int32
		dial := config.Server.Dial
		config.Server.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err == nil {
				open.Add(1)
				conn = countedConn{conn, sync.OnceFunc(func() { open.Add(-1) })}
			}
			return conn, err
		}
		on, err := Open(t.Context(), config, Options{Bare: true})
		require.NoError(t, err)
		client, err := on.NewClient(nil)
		require.NoError(t, err)
		_, err = on.ConfigMaps(client).List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Positive(t, open.Load(), "the client has a connection")
		on.Close()
		synctest.Wait()
		assert.Zero(t, open.Load(), "no connection is left")
	})
}
