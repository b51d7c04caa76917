package restclient_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// A caller that measures the server's latency can subtract the wait for the client's own limit.
func TestThrottledRequestsReportTheirWait(t *testing.T) {
	bubble(t, ok, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS, cfg.Burst = 1, 1 })
		start := time.Now()
		var reported, at []time.Duration
		ctx := api.WithThrottled(t.Context(), func(wait time.Duration) {
			reported, at = append(reported, wait), append(at, time.Since(start))
		})
		for range 3 {
			require.NoError(t, client.Do(ctx, get("/"), nil))
		}
		assert.Equal(t, []time.Duration{time.Second, time.Second}, reported)
		assert.Equal(t, []time.Duration{0, time.Second}, at, "before it waits")
	})
}
