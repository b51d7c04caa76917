package e2e

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// venue gives a scenario a cluster with the subject at work.
type venue func(t *testing.T, platform Platform, subject Subject) *Cluster

// ownClusters bounds how many clusters of single tests run at the same time: each is a handful of busy processes.
var ownClusters = make(chan struct{}, 3)

// reserveCluster waits until the test may start a cluster of its own. The test ends the cluster in a cleanup that it adds later.
func reserveCluster(t *testing.T) {
	ownClusters <- struct{}{}
	t.Cleanup(func() { <-ownClusters })
}

// onOwnCluster is for scenarios that disturb the whole cluster: nobody else is on it.
func onOwnCluster(t *testing.T, platform Platform, subject Subject) *Cluster {
	return onClusterWith(controlplane.Config{})(t, platform, subject)
}

// onClusterWith is onOwnCluster with a configuration of the scenario's own.
func onClusterWith(config controlplane.Config) venue {
	return func(t *testing.T, platform Platform, subject Subject) *Cluster {
		reserveCluster(t)
		config := audited(platform, config)
		config.Log = t.Output()
		cluster, err := StartCluster(t.Context(), platform, subject, config, talkative(subject)...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
		return cluster
	}
}

// audited adds the audit policy where there is an audit log.
func audited(platform Platform, config controlplane.Config) controlplane.Config {
	if platform.Name == Kubernetes().Name {
		config.AuditPolicy = AuditPolicy
	}
	return config
}

// onSharedCluster is for scenarios that keep to their own namespaces: they run side by side on one cluster for each
// platform and subject, with a node, which is started for the first of them and stopped by TestMain.
func onSharedCluster(t *testing.T, platform Platform, subject Subject) *Cluster {
	cluster, err := shared[pairing{platform.Name, subject.Name}].get(func() (*Cluster, error) {
		// Not the test's context and log: the cluster outlives the test that happens to come first.
		config := audited(platform, controlplane.Config{FakeNodes: 1})
		return StartCluster(context.Background(), platform, subject, config, talkative(subject)...)
	})
	require.NoError(t, err)
	return cluster
}

// talkative are the arguments that make a subject say enough to understand a test that failed.
func talkative(subject Subject) []string {
	if subject.Name == Orrery().Name {
		return []string{"-v1"}
	}
	return nil
}

// pairing names a platform and a subject.
type pairing struct{ platform, subject string }

// String is how tests call it.
func (p pairing) String() string { return p.platform + "/" + p.subject }

// pairings are all there are.
func pairings() []pairing {
	var all []pairing
	for _, platform := range Platforms() {
		for _, subject := range Subjects() {
			all = append(all, pairing{platform.Name, subject.Name})
		}
	}
	return all
}

// shared are the clusters of onSharedCluster, vacant those of onVacantCluster by the platform's name.
var (
	shared = map[pairing]*lazily[*Cluster]{}
	vacant = map[string]*lazily[Server]{}
)

func init() {
	for _, p := range pairings() {
		shared[p] = &lazily[*Cluster]{}
		vacant[p.platform] = &lazily[Server]{}
	}
}

// onVacantCluster returns a server on which no namespace controller runs, for tests that run orrery themselves. They must
// not run side by side.
func onVacantCluster(t *testing.T, platform Platform) Server {
	server, err := vacant[platform.Name].get(func() (Server, error) {
		return platform.Start(context.Background(), audited(platform, controlplane.Config{}))
	})
	require.NoError(t, err)
	return server
}

// lazily is something that is started for the first who asks for it.
type lazily[T any] struct {
	once  sync.Once
	value T
	err   error
	ready bool // it was started with success; read only after all who may ask have ended
}

func (l *lazily[T]) get(start func() (T, error)) (T, error) {
	l.once.Do(func() {
		l.value, l.err = start()
		l.ready = l.err == nil
	})
	return l.value, l.err
}

// stopShared ends the clusters that outlive tests.
func stopShared() error {
	var (
		stopping sync.WaitGroup
		mu       sync.Mutex // guards all
		all      error
	)
	stop := func(stop func() error) {
		stopping.Go(func() {
			err := stop()
			mu.Lock()
			defer mu.Unlock()
			all = errors.Join(all, err)
		})
	}
	for _, cluster := range shared {
		if cluster.ready {
			stop(cluster.value.Stop)
		}
	}
	for _, server := range vacant {
		if server.ready {
			stop(server.value.Stop)
		}
	}
	stopping.Wait()
	return all
}
