package restclient_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/faultnet"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Before a watch is opened, its Resource knows from earlier requests whether connections have
// keepalive.
func TestAResourceKnowsWhetherItsWatchesProveLife(t *testing.T) {
	overBadLink(t, http.HandlerFunc(quiet), func(t *testing.T, c carrier, _ *faultnet.Link, client *restclient.Client) {
		pods := restclient.Metadata(client, api.PodsResource, "")
		_, err := pods.List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, c.hasKeepalive, pods.HasKeepalive())
		w, err := pods.Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, c.hasKeepalive, pods.HasKeepalive())
		w.Stop()
	})
}
