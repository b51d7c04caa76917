package stage_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// counted is a connection that is counted while it is open.
type counted struct {
	net.Conn
	closed func()
}

func (c counted) Close() error {
	c.closed()
	return c.Conn.Close()
}

func TestClientsOfASceneEndWithTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, made, err := demo.NewServer("")
		require.NoError(t, err)
		defer func() { require.NoError(t, server.Stop(context.Background())) }()
		config := restclienttest.NewTLSServer(t, server.Handler(), restclienttest.NewAuthority(t), nil).Config()
		var open atomic.Int32
		dial := config.Dial
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err == nil {
				open.Add(1)
				conn = counted{conn, sync.OnceFunc(func() { open.Add(-1) })}
			}
			return conn, err
		}
		on, err := stage.Open(t.Context(), stage.Config{
			Teller: story.New("bare", "A client asks.",
				"Look at it."), Server: config, Faults: server.Faults(), Credentials: made,
		}, stage.Options{Bare: true})
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
