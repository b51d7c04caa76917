package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/apiservertest"
	"orrery/upstream/controlplane"
)

// A fresh control plane gives the same answers, so no recording depends on chance, the date or
// earlier recordings.
func TestRecordingsCanBeRepeated(t *testing.T) {
	config := forConversations()
	config.Log = t.Output()
	cp, err := controlplane.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	target, err := targetFor(cp.Kubeconfig())
	require.NoError(t, err)
	apiservertest.Run(t, func(*testing.T) apiservertest.Target { return target }, true)
}
