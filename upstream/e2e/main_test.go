package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// scenariosAtOnce is the number of parallel tests. Scenarios mostly wait for controllers (each
// namespace has a grace period of five seconds), so it does not depend on the number of processors.
const scenariosAtOnce = "24"

// TestMain stops the shared servers. A control plane that died fails the run even if no test
// noticed.
func TestMain(m *testing.M) {
	flag.Parse()
	if !given("test.parallel") {
		if err := flag.Set("test.parallel", scenariosAtOnce); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "the clusters that tests share:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// given reports whether a flag is on the command line.
func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// wholeMatrix also runs the original controller in every scenario, as "make nightly" does, so that
// an outdated record is found.
var wholeMatrix = os.Getenv("E2E_MATRIX") == "whole"

// subjectsNow returns the subjects of this run.
func subjectsNow() []Subject {
	if wholeMatrix {
		return []Subject{BuiltIn(), Orrery()}
	}
	return []Subject{Orrery()}
}

// venue returns the running cluster, with its subject, for a scenario.
type venue func(t *testing.T, subject Subject) *Cluster

// ownClusters bounds the clusters of single tests that run at once: each is several busy processes.
var ownClusters = make(chan struct{}, 3)

// reserveCluster blocks until the test may start a cluster of its own. The slot is freed after the
// cleanups that the test adds later, which stop the cluster.
func reserveCluster(t *testing.T) {
	ownClusters <- struct{}{}
	t.Cleanup(func() { <-ownClusters })
}

// onOwnCluster is for scenarios that disturb a whole cluster: each gets its own.
func onOwnCluster(config controlplane.Config) venue {
	return func(t *testing.T, subject Subject) *Cluster {
		reserveCluster(t)
		config := config
		config.AuditPolicy, config.Log = AuditPolicy, t.Output()
		cluster, err := StartCluster(t.Context(), subject, config, talkative(subject)...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
		return cluster
	}
}

// startControlPlane starts a control plane of the test's own.
func startControlPlane(t *testing.T, config controlplane.Config) *controlplane.ControlPlane {
	t.Helper()
	config.Log = t.Output()
	cp, err := controlplane.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	return cp
}

// onControlPlane returns a trial on a control plane of the test's own, without a subject.
func onControlPlane(t *testing.T, config controlplane.Config) *trial {
	t.Helper()
	return newTrial(t, &Cluster{ControlPlane: startControlPlane(t, config), subject: Orrery()}, endState{})
}

// shared holds the clusters of onSharedCluster by the name of their subject.
var shared struct {
	sync.Mutex // held while a cluster starts
	clusters   map[string]*Cluster
}

// onSharedCluster is for scenarios that keep to their own namespaces. They run in parallel on one
// cluster, with a node, for each subject. The first scenario starts the cluster and TestMain stops
// it.
func onSharedCluster(t *testing.T, subject Subject) *Cluster {
	shared.Lock()
	defer shared.Unlock()
	if cluster := shared.clusters[subject.Name]; cluster != nil {
		return cluster
	}
	// Not the test's context and log: the cluster outlives the test that starts it.
	config := controlplane.Config{FakeNodes: 1, AuditPolicy: AuditPolicy}
	cluster, err := StartCluster(context.Background(), subject, config, talkative(subject)...)
	require.NoError(t, err)
	if shared.clusters == nil {
		shared.clusters = map[string]*Cluster{}
	}
	shared.clusters[subject.Name] = cluster
	return cluster
}

// stopShared stops the clusters that outlive tests.
func stopShared() (err error) {
	for _, cluster := range shared.clusters {
		err = errors.Join(err, cluster.Stop())
	}
	return err
}

// talkative returns the arguments that make a subject log enough to explain a failure.
func talkative(subject Subject) []string {
	if subject.Name == Orrery().Name {
		return []string{"-v1"}
	}
	return nil
}
