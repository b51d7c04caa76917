package restclient

import "context"

// ProbeHandshake lets tests of package restclient_test make the probe on its own: by itself it runs only when net/http
// loses a race.
func ProbeHandshake(ctx context.Context, c *Client) error { return c.pool.probeHandshake(ctx, c.base) }
