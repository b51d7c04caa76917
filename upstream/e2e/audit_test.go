package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// concerns reports whether the request reads, empties, reports on or finalizes the namespace.
func (r Request) concerns(namespace string) bool {
	return r.ObjectRef.Namespace == namespace ||
		r.ObjectRef.Resource == "namespaces" && r.ObjectRef.Name == namespace
}

// discovers reports whether the request is part of discovery or checks that discovery is complete.
func (r Request) discovers() bool {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path == "/api" || path == "/apis" || path == "/readyz" ||
		r.ObjectRef.Resource == "" && (strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/"))
}

// initialList reports whether an informer on namespaces fills its store by this request: a list, or
// a watch that begins with the initial events.
func (r Request) initialList() bool {
	ref := r.ObjectRef
	return ref.Resource == "namespaces" && ref.Name == "" && ref.Namespace == "" &&
		(r.Verb == "list" || r.Verb == "watch" && strings.Contains(r.RequestURI, "sendInitialEvents=true"))
}

// audited returns the requests in the audit log, one entry each, in the order of their answers.
func (tr *trial) audited() []Request {
	tr.t.Helper()
	requests, err := (&AuditLog{Path: tr.cluster.AuditLog()}).Read()
	require.NoError(tr.t, err)
	return slices.DeleteFunc(requests, func(r Request) bool { return !r.Answered() })
}

// auditedAfter returns the requests received after a moment.
func (tr *trial) auditedAfter(moment time.Time) []Request {
	tr.t.Helper()
	return slices.DeleteFunc(tr.audited(), func(r Request) bool {
		return !r.RequestReceivedTimestamp.After(moment)
	})
}

// auditedOf returns the requests of a user.
func (tr *trial) auditedOf(user string) []Request {
	tr.t.Helper()
	return slices.DeleteFunc(tr.audited(), func(r Request) bool { return r.User.Username != user })
}

// auditGroup is an audit policy that logs the metadata of the requests of a group's users.
func auditGroup(group string) string {
	return `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["` + group + `"]
- level: None
`
}

// The log is written while it is read or skipped, so it may end in the middle of a line.
func TestAuditLogIsReadPieceByPiece(t *testing.T) {
	const lines = `{"stage":"ResponseComplete","verb":"get"}` + "\n" +
		`{"stage":"ResponseComplete","verb":"list"}` + "\n"
	log := &AuditLog{Path: filepath.Join(t.TempDir(), "audit.log")}
	requests, err := log.Read()
	require.NoError(t, err)
	assert.Empty(t, requests, "there is no log before the first request")

	require.NoError(t, os.WriteFile(log.Path, []byte(lines[:len(lines)-10]), 0o600))
	require.NoError(t, log.Skip())
	require.NoError(t, os.WriteFile(log.Path, []byte(lines), 0o600))
	requests, err = log.Read()
	require.NoError(t, err)
	require.Len(t, requests, 1, "the line that was being written is read when it is complete")
	assert.Equal(t, "list", requests[0].Verb)

	require.NoError(t, os.WriteFile(log.Path, []byte(lines+"no json\n"), 0o600))
	_, err = log.Read()
	assert.ErrorContains(t, err, "no json")
}
