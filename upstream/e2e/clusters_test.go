package e2e

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// venue returns the running cluster, with its subject, for a scenario.
type venue func(t *testing.T, platform Platform, subject Subject) *Cluster

// ownClusters bounds the clusters of single tests that run at once: each is several busy processes.
var ownClusters = make(chan struct{}, 3)

// reserveCluster blocks until the test may start a cluster of its own. The slot is freed after the
// cleanups that the test adds later, which stop the cluster.
func reserveCluster(t *testing.T) {
	ownClusters <- struct{}{}
	t.Cleanup(func() { <-ownClusters })
}

// onOwnCluster is for scenarios that disturb a whole cluster: each gets its own.
func onOwnCluster(t *testing.T, platform Platform, subject Subject) *Cluster {
	return onClusterWith(controlplane.Config{})(t, platform, subject)
}

// onClusterWith is onOwnCluster with a configuration.
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

// onControlPlane returns a trial on a genuine control plane of the test's own.
func onControlPlane(t *testing.T, config controlplane.Config) *trial {
	t.Helper()
	config.Log = t.Output()
	cp, err := controlplane.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	return newTrial(t, &Cluster{Server: cp, subject: Orrery()}, endState{})
}

// audited adds the audit policy where there is an audit log.
func audited(platform Platform, config controlplane.Config) controlplane.Config {
	if platform.Name == Kubernetes().Name {
		config.AuditPolicy = AuditPolicy
	}
	return config
}

// onSharedCluster is for scenarios that keep to their own namespaces. They run in parallel on one
// cluster, with a node, for each platform and subject. The first scenario starts the cluster and
// TestMain stops it.
func onSharedCluster(t *testing.T, platform Platform, subject Subject) *Cluster {
	cluster, err := shared[pairing{platform.Name, subject.Name}].get(func() (*Cluster, error) {
		// Not the test's context and log: the cluster outlives the test that starts it.
		config := audited(platform, controlplane.Config{FakeNodes: 1})
		return StartCluster(context.Background(), platform, subject, config, talkative(subject)...)
	})
	require.NoError(t, err)
	return cluster
}

// talkative returns the arguments that make a subject log enough to explain a failure.
func talkative(subject Subject) []string {
	if subject.Name == Orrery().Name {
		return []string{"-v1"}
	}
	return nil
}

// pairing names a platform and a subject.
type pairing struct{ platform, subject string }

// String returns the name of the subtest.
func (p pairing) String() string { return p.platform + "/" + p.subject }

// pairings returns every platform with every subject.
func pairings() []pairing {
	var all []pairing
	for _, platform := range Platforms() {
		for _, subject := range Subjects() {
			all = append(all, pairing{platform.Name, subject.Name})
		}
	}
	return all
}

// shared holds the clusters of onSharedCluster, vacant those of onVacantCluster by platform name.
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

// onVacantCluster returns a server without a namespace controller, for tests that run orrery
// themselves. They must not run in parallel.
func onVacantCluster(t *testing.T, platform Platform) Server {
	server, err := vacant[platform.Name].get(func() (Server, error) {
		return platform.Start(context.Background(), audited(platform, controlplane.Config{}))
	})
	require.NoError(t, err)
	return server
}

// lazily is a value that the first caller starts.
type lazily[T any] struct {
	once  sync.Once
	value T
	err   error
	ready bool // started successfully; read only after all callers have ended
}

func (l *lazily[T]) get(start func() (T, error)) (T, error) {
	l.once.Do(func() {
		l.value, l.err = start()
		l.ready = l.err == nil
	})
	return l.value, l.err
}

// stopShared stops the clusters that outlive tests.
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
