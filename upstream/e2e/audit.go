package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// AuditPolicy makes kube-apiserver log the metadata of the subjects' requests and of no others, so
// that each request costs every subject the same.
const AuditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + ControllerIdentity + `"]
- level: None
`

// AuditLog is kube-apiserver's audit log, read incrementally. Its methods must not overlap.
type AuditLog struct {
	// Path is the file, which need not exist before the first request.
	Path string

	offset int64 // of the first unread line
}

// Request is a line of the log: a request, when its answer has begun or is complete.
type Request struct {
	Stage      string
	RequestURI string
	Verb       string
	User       struct {
		Username string
	}
	ObjectRef struct {
		Resource, Namespace, Name, APIGroup, Subresource string
	}
	ResponseStatus struct {
		Code int
	}
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time // when it was answered
}

// String returns the request as verb and path.
func (r Request) String() string {
	return fmt.Sprintf("%s %s (%d)", r.Verb, r.RequestURI, r.ResponseStatus.Code)
}

// Answered reports whether the line is the one that stands for its request: the answer is complete
// or, for a watch, has begun.
func (r Request) Answered() bool { return (r.Stage == "ResponseStarted") == (r.Verb == "watch") }

// Finalizes reports whether the request removed a namespace's finalizer.
func (r Request) Finalizes() bool {
	ref := r.ObjectRef
	return r.Stage == "ResponseComplete" && ref.Resource == "namespaces" && ref.Subresource == "finalize" &&
		r.ResponseStatus.Code == http.StatusOK
}

// WatchesNamespaces reports whether an informer has opened a watch of all namespaces: informers ask
// for bookmarks.
func (r Request) WatchesNamespaces() bool {
	ref := r.ObjectRef
	return r.Verb == "watch" && r.Stage == "ResponseStarted" && r.ResponseStatus.Code == http.StatusOK &&
		ref.Resource == "namespaces" && ref.Name == "" && strings.Contains(r.RequestURI, "allowWatchBookmarks=true")
}

// Skip skips the complete lines.
func (l *AuditLog) Skip() error {
	_, err := l.added()
	return err
}

// Read returns the complete lines added since the last call of Read or Skip.
func (l *AuditLog) Read() ([]Request, error) {
	lines, err := l.added()
	if err != nil {
		return nil, err
	}
	var requests []Request
	for line := range bytes.Lines(lines) {
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("line of the audit log %q: %w", line, err)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// added returns the unread complete lines.
func (l *AuditLog) added() ([]byte, error) {
	file, err := os.Open(l.Path)
	if os.IsNotExist(err) {
		return nil, nil // no request yet
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	added, err := io.ReadAll(io.NewSectionReader(file, l.offset, 1<<40))
	if err != nil {
		return nil, err
	}
	added = added[:bytes.LastIndexByte(added, '\n')+1]
	l.offset += int64(len(added))
	return added, nil
}
