package clusters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// auditLog is kube-apiserver's audit log, read incrementally.
type auditLog struct {
	path   string
	offset int64 // of the first unread line
}

// request is a line of the log: a controller's request.
type request struct {
	Stage      string
	RequestURI string
	Verb       string
	ObjectRef  struct {
		Resource, Namespace, Name, Subresource string
	}
	ResponseStatus struct {
		Code int
	}
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time // when it was answered
}

// skip skips the complete lines.
func (l *auditLog) skip() error {
	_, err := l.added()
	return err
}

// read returns the complete lines added since the last read.
func (l *auditLog) read() ([]request, error) {
	lines, err := l.added()
	if err != nil {
		return nil, err
	}
	return parseAudit(lines)
}

// added returns the unread complete lines.
func (l *auditLog) added() ([]byte, error) {
	file, err := os.Open(l.path)
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

func parseAudit(lines []byte) ([]request, error) {
	var requests []request
	for line := range bytes.Lines(lines) {
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("line of the audit log %q: %w", line, err)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// watchesNamespaces reports whether an informer has opened a watch of all namespaces: informers ask
// for bookmarks.
func watchesNamespaces(requests []request) bool {
	for _, r := range requests {
		ref := r.ObjectRef
		if r.Verb == "watch" && r.Stage == "ResponseStarted" && r.ResponseStatus.Code == 200 &&
			ref.Resource == "namespaces" && ref.Name == "" && strings.Contains(r.RequestURI, "allowWatchBookmarks=true") {
			return true
		}
	}
	return false
}

// work sums up a controller's requests between the deletion of the namespaces and the end of the
// last, without its watches.
type work struct {
	requests    int
	first, last time.Time // arrival of the first request, and the answer that ended the last namespace
}

// workSince sums up the requests from a moment until the answer that ended the last namespace.
// Later requests, such as events, may or may not be in the log by now.
func workSince(moment time.Time, requests []request) work {
	var w work
	for _, r := range requests {
		if r.finalizes() && r.RequestReceivedTimestamp.After(moment) && r.StageTimestamp.After(w.last) {
			w.last = r.StageTimestamp
		}
	}
	for _, r := range requests {
		arrived := r.RequestReceivedTimestamp
		if r.Verb == "watch" || r.Stage != "ResponseComplete" || !arrived.After(moment) || arrived.After(w.last) {
			continue
		}
		w.requests++
		if w.first.IsZero() || arrived.Before(w.first) {
			w.first = arrived
		}
	}
	return w
}

// took returns the time from the first request to the last answer.
func (w work) took() time.Duration { return w.last.Sub(w.first) }

// finalizes reports whether the request removed a namespace's finalizer.
func (r request) finalizes() bool {
	ref := r.ObjectRef
	return r.Stage == "ResponseComplete" && ref.Resource == "namespaces" && ref.Subresource == "finalize" && r.ResponseStatus.Code == 200
}
