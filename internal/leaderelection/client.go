package leaderelection

import (
	"context"
	"sync"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Client is [Leases] over connections of its own: a renewal must not wait behind a thousand deletions, for a connection or
// for the rate limit, and a leader has only a few seconds to find out that a connection is dead.
type Client struct {
	config    restclient.Config
	namespace string

	mu      sync.Mutex // guards what follows
	current *restclient.Client
}

// NewClient makes a client of the Leases in a namespace like the one that has that configuration, but without a rate limit,
// repetitions and a [Fence], and with a time limit that leaves room for a second attempt before the deadline. Whoever makes it
// closes it.
func NewClient(config restclient.Config, namespace string, renewDeadline time.Duration) (*Client, error) {
	config.QPS = -1
	config.MaxRetries = -1
	config.Timeout = renewDeadline / 2
	config.UserAgent += "/leader-election"
	client, err := restclient.New(config)
	if err != nil {
		return nil, err
	}
	return &Client{config: config, namespace: namespace, current: client}, nil
}

// Reconnect leaves the connections alone that there are: the next request opens one. It keeps them if there cannot be
// others, as when a file of the configuration cannot be read right now. It is for [Config].Reconnect.
func (c *Client) Reconnect() {
	client, err := restclient.New(c.config)
	if err != nil {
		return
	}
	c.mu.Lock()
	old := c.current
	c.current = client
	c.mu.Unlock()
	old.Close()
}

// Close closes the connections when nobody uses them any more.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.Close()
}

func (c *Client) leases() *restclient.Resource[*api.Lease] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return restclient.Typed[*api.Lease](c.current, api.LeasesResource, c.namespace)
}

// Get reads a Lease.
func (c *Client) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Lease, error) {
	return c.leases().Get(ctx, name, opts)
}

// Create makes a Lease.
func (c *Client) Create(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	return c.leases().Create(ctx, lease, opts)
}

// Update writes a Lease if nobody has since it was read.
func (c *Client) Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	return c.leases().Update(ctx, lease, opts)
}
