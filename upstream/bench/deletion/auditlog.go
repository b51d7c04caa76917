package deletion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// auditLog is kube-apiserver's audit log, read piece by piece: it grows with every request of every run.
type auditLog struct {
	path   string
	offset int64 // what has been read; always the beginning of a line
}

// request is a line of the log: something that a controller has asked for.
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

// skip forgets what is there, but not a line that is not complete yet.
func (l *auditLog) skip() error {
	_, err := l.added()
	return err
}

// read returns what has been added since the last time, without a line that is not complete yet.
func (l *auditLog) read() ([]request, error) {
	lines, err := l.added()
	if err != nil {
		return nil, err
	}
	return parseAudit(lines)
}

// added returns the complete lines that have been added since the last time.
func (l *auditLog) added() ([]byte, error) {
	file, err := os.Open(l.path)
	if os.IsNotExist(err) {
		return nil, nil // nothing has been asked for yet
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

// watchesNamespaces tells whether a watch of all namespaces has been opened, by an informer: those ask for bookmarks.
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

// work is what a controller has asked for between the deletion of the namespaces and the end of the last of them, for any
// purpose; only its watches are left out, which are open all the time.
type work struct {
	requests    int
	first, last time.Time // when the first request arrived, and when the one that ended the last namespace was answered
}

// workSince sums up the requests that arrived after a moment and before the answer that ended the last namespace. What a
// controller says afterwards, such as an event, is not in it: it may be in the log by now or not.
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

// took is the time from the first request to the last answer.
func (w work) took() time.Duration { return w.last.Sub(w.first) }

// finalizes tells whether the request has taken a namespace's finalizer off.
func (r request) finalizes() bool {
	ref := r.ObjectRef
	return r.Stage == "ResponseComplete" && ref.Resource == "namespaces" && ref.Subresource == "finalize" && r.ResponseStatus.Code == 200
}
