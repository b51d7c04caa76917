package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/cluster"
)

// statusOf runs "orrery status" and returns its JSON output.
func statusOf(t *testing.T, args ...string) (code int, report cluster.Status) {
	t.Helper()
	code, stdout, stderr := orrery(t, append([]string{"status", "-o", "json"}, args...)...)
	require.Empty(t, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &report), stdout)
	return code, report
}

func TestStatus(t *testing.T) {
	path := builtIn(t)
	code, report := statusOf(t, "--kubeconfig", path)
	assert.Equal(t, 1, code)
	assert.Equal(t, []string{"no leader: there is no Lease kube-system/orrery"}, report.Problems)

	leader := startReplica(t, path)
	leader.await("controller started")
	deleteNamespace(t, clientOf(t, path), "team-a", "example.com/hold")
	code, report = statusOf(t, "--kubeconfig", path)
	assert.Zero(t, code, "the age of a deletion is no verdict")
	assert.Empty(t, report.Problems)
	assert.Equal(t, "kube-system/orrery", report.Leader.Lease)
	assert.Equal(t, leaseOf(t, path).Spec.HolderIdentity, report.Leader.Holder)
	assert.True(t, leaseOf(t, path).Spec.AcquireTime.Equal(*report.Leader.Since))
	require.Len(t, report.Namespaces, 1)
	assert.Equal(t, "team-a", report.Namespaces[0].Name)
	leader.end()
}

// "orrery status" logs what "orrery run" logs about its connection, and never on standard output.
func TestStatusSaysWhatTheConnectionIs(t *testing.T) {
	url := serveTLS(t, forbidden)
	code, stdout, stderr := orrery(t, "status", "-o", "json", "--kubeconfig", writeTLSKubeconfig(t, url, "{}"))
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "WARN  the connection is not safe")
	assert.Contains(t, lastLine(stderr), "orrery: reading the status at "+url)
}
