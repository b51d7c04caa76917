package restclient_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

func TestSmoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			restclienttest.ServeWatch(w, r, restclienttest.TextFrames, func(s *restclienttest.Stream) {
				s.Send(api.WatchAdded, api.Namespace{ObjectMeta: api.ObjectMeta{Name: "a", ResourceVersion: "7"}})
			})
		}))
		for _, tr := range []restclient.WatchTransport{"http", "websocket"} {
			c := server.Client(func(cfg *restclient.Config) { cfg.WatchTransport = tr })
			w, err := restclient.Typed[*api.Namespace](c, api.NamespacesResource, "").Watch(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			e, err := w.Next()
			require.NoError(t, err)
			assert.Equal(t, "a", e.Object.Name)
			assert.Equal(t, "7", e.ResourceVersion)
			_, err = w.Next()
			require.EqualError(t, err, "EOF")
			w.Stop()
		}
	})
}
