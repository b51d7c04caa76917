package clusters

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

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
	requests, err := parseAudit([]byte(recorded))
	require.NoError(t, err)
	require.Len(t, requests, 6)

	all := workSince(moment(t, "2026-01-02T03:04:05Z"), requests)
	assert.Equal(t, 4, all.requests, "neither the watch counts nor what is said when the namespace is gone")
	assert.Equal(t, 310*time.Millisecond, all.took(), "from the first to arrive, discovery included, to the last answer")
	assert.Equal(t, 2, workSince(moment(t, "2026-01-02T03:04:06.5Z"), requests).requests)
	assert.Zero(t, workSince(moment(t, "2026-01-02T03:04:07Z"), requests))
}

func TestParseLine(t *testing.T) {
	requests, err := parseAudit([]byte(recorded))
	require.NoError(t, err)
	var finalizing []int
	for i, r := range requests {
		if r.finalizes() {
			finalizing = append(finalizing, i)
		}
	}
	assert.Equal(t, []int{4}, finalizing, "a conflict has finalized nothing")
	assert.True(t, watchesNamespaces(requests))
	assert.False(t, watchesNamespaces(requests[1:]))
}

func TestAuditLogIsReadPieceByPiece(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	log := &auditLog{path: path}
	requests, err := log.read()
	require.NoError(t, err)
	assert.Empty(t, requests, "there is no log before the first request")

	half := len(recorded) / 2
	require.NoError(t, os.WriteFile(path, []byte(recorded[:half]), 0o600))
	first, err := log.read()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(recorded), 0o600))
	second, err := log.read()
	require.NoError(t, err)
	assert.NotEmpty(t, first)
	assert.Len(t, append(first, second...), 6, "the line that was being written is read when it is complete")

	log.offset = 0
	require.NoError(t, log.skip())
	rest, err := log.read()
	require.NoError(t, err)
	assert.Empty(t, rest)

	require.NoError(t, os.WriteFile(path, []byte(recorded+"no json\n"), 0o600))
	_, err = log.read()
	assert.ErrorContains(t, err, "no json")
}

// The log is written while it is skipped, so it may end in the middle of a line.
func TestSkippingStopsAtTheBeginningOfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(path, []byte(recorded[:len(recorded)-10]), 0o600))
	log := &auditLog{path: path}
	require.NoError(t, log.skip())
	require.NoError(t, os.WriteFile(path, []byte(recorded), 0o600))
	rest, err := log.read()
	require.NoError(t, err)
	assert.Len(t, rest, 1)
}

func TestResidentMemory(t *testing.T) {
	own, err := residentOf(os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, own, 1.0)
	_, err = residentOf(-1)
	assert.Error(t, err, "there is no such process")
}

func TestChangedBystandersFailTheProof(t *testing.T) {
	before := []string{"configmaps a settings uid-1 7", "secrets a key uid-2 8"}
	require.NoError(t, proveUntouched(before, []string{before[1], before[0]}))
	for name, after := range map[string][]string{
		"gone":    before[:1],
		"new":     append([]string{"secrets b left-behind uid-3 9"}, before...),
		"changed": {before[0], "secrets a key uid-2 10"},
	} {
		var proof *bench.ProofError
		require.ErrorAs(t, proveUntouched(before, after), &proof, name)
		assert.Contains(t, proof.Got, "secrets", name)
		assert.NotContains(t, proof.Got, "configmaps", name)
	}
}
