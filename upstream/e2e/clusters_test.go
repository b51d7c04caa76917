package e2e

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// auditPolicy has kube-apiserver write down what the subjects ask for (who, what, when, with what success; no content)
// and what nobody else does.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + controllerIdentity + `"]
- level: None
`

// venue gives a scenario a cluster with the subject at work.
type venue func(t *testing.T, subject Subject) *Cluster

// onOwnCluster is for scenarios that disturb the whole cluster: nobody else is on it.
func onOwnCluster(t *testing.T, subject Subject) *Cluster {
	return onClusterWith(controlplane.Config{})(t, subject)
}

// onClusterWith is onOwnCluster with a configuration of the scenario's own.
func onClusterWith(config controlplane.Config) venue {
	return func(t *testing.T, subject Subject) *Cluster {
		config.AuditPolicy = auditPolicy
		config.Log = t.Output()
		cluster, err := StartCluster(t.Context(), subject, config, talkative(subject)...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
		return cluster
	}
}

// onSharedCluster is for scenarios that keep to their own namespaces: they run side by side on one cluster a subject,
// with a node, which is started for the first of them and stopped by TestMain.
func onSharedCluster(t *testing.T, subject Subject) *Cluster {
	cluster, err := shared[subject.Name].get(func() (*Cluster, error) {
		// Not the test's context and log: the cluster outlives the test that happens to come first.
		config := controlplane.Config{AuditPolicy: auditPolicy, FakeNodes: 1}
		return StartCluster(context.Background(), subject, config, talkative(subject)...)
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

// shared are the clusters of onSharedCluster, by the subject's name, and that of onVacantCluster.
var (
	shared = map[string]*lazily[*Cluster]{BuiltIn().Name: {}, Orrery().Name: {}}
	vacant = &lazily[*controlplane.ControlPlane]{}
)

// onVacantCluster returns a control plane on which no namespace controller runs, for tests that run orrery themselves.
// They must not run side by side.
func onVacantCluster(t *testing.T) *controlplane.ControlPlane {
	cp, err := vacant.get(func() (*controlplane.ControlPlane, error) {
		return controlplane.Start(context.Background(), controlplane.Config{AuditPolicy: auditPolicy})
	})
	require.NoError(t, err)
	return cp
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
	if vacant.ready {
		stop(vacant.value.Stop)
	}
	stopping.Wait()
	return all
}
