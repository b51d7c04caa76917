package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/apiservertest"
)

// A fresh control plane gives the same answers, so no recording depends on chance, the date or
// earlier recordings.
func TestRecordingsCanBeRepeated(t *testing.T) {
	config := forConversations()
	config.Log = t.Output()
	s, err := start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	apiservertest.Run(t, func(*testing.T) apiservertest.Target { return s.target }, true)
}
