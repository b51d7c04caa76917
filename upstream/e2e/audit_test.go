package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// request is a line of the audit log: something that a subject asked the API server for. Only the subjects are audited.
type request struct {
	Stage      string
	RequestURI string
	Verb       string
	UserAgent  string
	ObjectRef  struct {
		Resource, Namespace, Name, APIGroup, Subresource string
	}
	ResponseStatus struct {
		Code int
	}
	RequestReceivedTimestamp time.Time
}

// String is the request as one would write it down.
func (r request) String() string {
	return fmt.Sprintf("%s %s (%d)", r.Verb, r.RequestURI, r.ResponseStatus.Code)
}

// concerns tells whether the request is part of the work on a namespace: it reads, empties, reports on or finalizes it.
func (r request) concerns(namespace string) bool {
	return r.ObjectRef.Namespace == namespace || r.ObjectRef.Resource == "namespaces" && r.ObjectRef.Name == namespace
}

// discovers tells whether the request asks what resources there are, or whether the answer to that is complete.
func (r request) discovers() bool {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path == "/api" || path == "/apis" || path == "/readyz" ||
		r.ObjectRef.Resource == "" && (strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/"))
}

// initialList tells whether the request is one by which an informer on namespaces fills its store: a list, or a watch
// that begins with everything there is.
func (r request) initialList() bool {
	ref := r.ObjectRef
	return ref.Resource == "namespaces" && ref.Name == "" && ref.Namespace == "" &&
		(r.Verb == "list" || r.Verb == "watch" && strings.Contains(r.RequestURI, "sendInitialEvents=true"))
}

// auditedAfter returns the requests that were received after a moment, one entry each, in the order in which they were
// answered. Those that stream their answer (watches) are there as soon as the answer has begun.
func auditedAfter(t *testing.T, cp *controlplane.ControlPlane, moment time.Time) []request {
	t.Helper()
	file, err := os.Open(cp.AuditLog())
	require.NoError(t, err)
	defer file.Close()
	var requests []request
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return requests // a line without an end is still being written
		}
		require.NoError(t, err)
		var r request
		require.NoError(t, json.Unmarshal(line, &r), "line of the audit log: %s", line)
		isStream := r.Verb == "watch"
		if (r.Stage == "ResponseStarted") == isStream && r.RequestReceivedTimestamp.After(moment) {
			requests = append(requests, r)
		}
	}
}
