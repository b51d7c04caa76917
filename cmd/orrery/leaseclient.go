package main

import (
	"context"
	"sync"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// leaseClient reaches the Leases of a namespace over connections of its own: a renewal must not wait behind a thousand
// deletions, for a connection or for the rate limit, and whoever leads has a few seconds to find out that a connection is dead.
type leaseClient struct {
	config    restclient.Config
	namespace string

	mu      sync.Mutex // guards what follows
	current *restclient.Client
}

// newLeaseClient makes a client like the one with that configuration.
func newLeaseClient(config restclient.Config, namespace string, renewDeadline time.Duration) (*leaseClient, error) {
	config.Dial = nil      // not behind the fence: who may send anything is found out with it
	config.QPS = -1        // the elector has a pace of its own
	config.MaxRetries = -1 // and repeats what fails
	config.Timeout = renewDeadline / 2
	config.UserAgent += "/leader-election"
	client, err := restclient.New(config)
	if err != nil {
		return nil, err
	}
	return &leaseClient{config: config, namespace: namespace, current: client}, nil
}

func (l *leaseClient) leases() *restclient.Resource[*api.Lease] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return restclient.Typed[*api.Lease](l.current, api.LeasesResource, l.namespace)
}

// reconnect leaves the connections alone that there are: the next request opens one. It keeps the client if there cannot be
// a new one, as when a file of the configuration cannot be read right now.
func (l *leaseClient) reconnect() {
	client, err := restclient.New(l.config)
	if err != nil {
		return
	}
	l.mu.Lock()
	old := l.current
	l.current = client
	l.mu.Unlock()
	old.Close()
}

func (l *leaseClient) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current.Close()
}

// Get, Create and Update are leaderelection.Leases.

func (l *leaseClient) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Lease, error) {
	return l.leases().Get(ctx, name, opts)
}

func (l *leaseClient) Create(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	return l.leases().Create(ctx, lease, opts)
}

func (l *leaseClient) Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	return l.leases().Update(ctx, lease, opts)
}
