package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/apiservertest"
	"orrery/upstream/controlplane"
)

// genuine starts the control plane of the recordings for a test.
func genuine(t *testing.T) apiservertest.Target {
	config := forConversations()
	config.Log = t.Output()
	cp, err := controlplane.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	target, err := targetFor(cp.Kubeconfig())
	require.NoError(t, err)
	return target
}

// A fresh control plane gives the same answers, so no recording depends on chance, the date or
// earlier recordings.
func TestRecordingsCanBeRepeated(t *testing.T) {
	start := sync.OnceValue(func() apiservertest.Target { return genuine(t) })
	apiservertest.Run(t, func(*testing.T) apiservertest.Target { return start() }, true)
}

// The output equals the committed files.
func TestRecordingsAreWritten(t *testing.T) {
	target := genuine(t)
	scripts, err := apiservertest.Scripts()
	require.NoError(t, err)
	dir := t.TempDir()
	for _, script := range scripts {
		if script.Theme != "namespaces" {
			continue
		}
		require.NoError(t, recordScript(t.Context(), target, script, dir))
		written, err := os.ReadFile(filepath.Join(dir, apiservertest.RecordingFile(script)))
		require.NoError(t, err)
		committed, err := os.ReadFile(filepath.Join("../../../internal/lab/apiserver/apiservertest/testdata", apiservertest.RecordingFile(script)))
		require.NoError(t, err)
		assert.Equal(t, string(committed), string(written))

		err = recordScript(t.Context(), target, script, dir)
		assert.NoError(t, err, "a different answer is recorded")
		assert.Error(t, recordScript(t.Context(), target, script, filepath.Join(dir, "absent")))
	}
	_, err = targetFor(filepath.Join(dir, "absent"))
	assert.Error(t, err)
}
