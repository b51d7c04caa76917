package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"

	"orrery/internal/lab/bench"
	"orrery/upstream/controlplane"
	"orrery/upstream/e2e"
)

// Both controllers on a genuine control plane, with little work.
func TestBothSidesDoTheSameWork(t *testing.T) {
	orrery, err := controlplane.FindUp(filepath.Join("bin", "orrery"))
	require.NoError(t, err)
	plane, err := controlplane.FindUp(filepath.Join("bin", "controlplane"))
	require.NoError(t, err)
	runner, err := startCluster(t.Context(), programs{Orrery: orrery, ControlPlane: plane})
	require.NoError(t, err)
	defer func() { require.NoError(t, runner.Stop()) }()

	figures := map[string][]string{Hundred: {"s", "requests", "resident MiB"}, Empty: {"ms", "requests"}}
	for scenario, names := range figures {
		ours, err := runner.Run(t.Context(), Ours, scenario, bench.Quick)
		require.NoError(t, err)
		theirs, err := runner.Run(t.Context(), Theirs, scenario, bench.Quick)
		require.NoError(t, err)
		assert.Equal(t, ours.Proof, theirs.Proof)
		for _, name := range names {
			assert.Positive(t, ours.Figures[name], "%s %s", scenario, name)
			assert.Positive(t, theirs.Figures[name], "%s %s", scenario, name)
		}
		assert.Less(t, ours.Figures["requests"], theirs.Figures["requests"], scenario)
		if scenario == Empty {
			assert.LessOrEqual(t, ours.Figures["requests"], 36.0)
		}
	}
}

func TestUnknownScenariosAndSides(t *testing.T) {
	_, err := (&cluster{}).Run(t.Context(), Ours, "deletion/none", bench.Quick)
	assert.EqualError(t, err, "there is no scenario deletion/none of ours")
	_, err = (&cluster{}).Run(t.Context(), Priority, Hundred, bench.Quick)
	assert.EqualError(t, err, "there is no scenario deletion/hundred of controller-runtime")
}

// The end of the context hides neither an error nor a success.
func TestPollAtTheEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("not done after 3m0s"))
	poll := func(ok bool, err error) error {
		return poll(ctx, "it", func() (bool, error) { return ok, err })
	}
	assert.NoError(t, poll(true, nil))
	assert.EqualError(t, poll(false, errors.New("the controller has ended")), "the controller has ended")
	assert.EqualError(t, poll(false, nil), "waiting for it: not done after 3m0s")
}

// Lines of kube-apiserver's log, shortened.
const recorded = `{"kind":"Event","stage":"ResponseStarted","requestURI":"/api/v1/namespaces?allowWatchBookmarks=true\u0026watch=true","verb":"watch","objectRef":{"resource":"namespaces","apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05.000000Z","stageTimestamp":"2026-01-02T03:04:05.001000Z"}
{"kind":"Event","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a","verb":"get","objectRef":{"resource":"namespaces","namespace":"a","name":"a"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:06.500000Z","stageTimestamp":"2026-01-02T03:04:06.502000Z"}
{"kind":"Event","stage":"ResponseComplete","requestURI":"/apis","verb":"get","responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:06.400000Z","stageTimestamp":"2026-01-02T03:04:06.401000Z"}
{"kind":"Event","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/finalize","verb":"update","objectRef":{"resource":"namespaces","namespace":"a","name":"a","subresource":"finalize"},"responseStatus":{"code":409},"requestReceivedTimestamp":"2026-01-02T03:04:06.600000Z","stageTimestamp":"2026-01-02T03:04:06.603000Z"}
{"kind":"Event","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/finalize","verb":"update","objectRef":{"resource":"namespaces","namespace":"a","name":"a","subresource":"finalize"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:06.700000Z","stageTimestamp":"2026-01-02T03:04:06.710000Z"}
{"kind":"Event","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/events","verb":"create","objectRef":{"resource":"events","namespace":"default"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-01-02T03:04:06.717000Z","stageTimestamp":"2026-01-02T03:04:06.718000Z"}
`

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(t, err)
	return at
}

func TestWorkIsSummedUpFromTheAuditLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(path, []byte(recorded), 0o600))
	requests, err := (&e2e.AuditLog{Path: path}).Read()
	require.NoError(t, err)
	require.Len(t, requests, 6)

	all := workSince(moment(t, "2026-01-02T03:04:05Z"), requests)
	assert.Equal(t, 4, all.requests, "neither the watch counts nor what is said when the namespace is gone")
	assert.Equal(t, 310*time.Millisecond, all.took(),
		"from the first to arrive, discovery included, to the last answer")
	assert.Equal(t, 2, workSince(moment(t, "2026-01-02T03:04:06.5Z"), requests).requests)
	assert.Zero(t, workSince(moment(t, "2026-01-02T03:04:07Z"), requests))
}

func TestChangedBystandersFailTheProof(t *testing.T) {
	settings, key := "configmaps a settings uid-1 7", "secrets a key uid-2 8"
	before := sets.New(settings, key)
	require.NoError(t, proveUntouched(before, sets.New(key, settings)))
	for name, after := range map[string]sets.Set[string]{
		"gone":    sets.New(settings),
		"new":     before.Union(sets.New("secrets b left-behind uid-3 9")),
		"changed": sets.New(settings, "secrets a key uid-2 10"),
	} {
		var proof *bench.ProofError
		require.ErrorAs(t, proveUntouched(before, after), &proof, name)
		assert.Contains(t, proof.Got, "secrets", name)
		assert.NotContains(t, proof.Got, "configmaps", name)
	}
}
