package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
)

// request is one request of a subject, read from kube-apiserver's audit log or from the log of the
// server in memory. Only requests of subjects are audited.
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

// String returns the request as verb and path.
func (r request) String() string {
	return fmt.Sprintf("%s %s (%d)", r.Verb, r.RequestURI, r.ResponseStatus.Code)
}

// concerns reports whether the request reads, empties, reports on or finalizes the namespace.
func (r request) concerns(namespace string) bool {
	return r.ObjectRef.Namespace == namespace || r.ObjectRef.Resource == "namespaces" && r.ObjectRef.Name == namespace
}

// discovers reports whether the request is part of discovery or checks that discovery is complete.
func (r request) discovers() bool {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path == "/api" || path == "/apis" || path == "/readyz" ||
		r.ObjectRef.Resource == "" && (strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/"))
}

// initialList reports whether an informer on namespaces fills its store by this request: a list, or
// a watch that begins with the initial events.
func (r request) initialList() bool {
	ref := r.ObjectRef
	return ref.Resource == "namespaces" && ref.Name == "" && ref.Namespace == "" &&
		(r.Verb == "list" || r.Verb == "watch" && strings.Contains(r.RequestURI, "sendInitialEvents=true"))
}

// auditedAfter returns the requests received after a moment, one entry each, in the order of their
// answers. A watch is listed as soon as its answer has begun; in memory its code is 0 until it
// ends.
func auditedAfter(t *testing.T, server Server, moment time.Time) []request {
	t.Helper()
	var requests []request
	switch server := server.(type) {
	case *controlplane.ControlPlane:
		requests = readAuditLog(t, server.AuditLog())
	case *served.Server:
		requests = readServedLog(t, server.LogFile(served.ProgramName))
	}
	return slices.DeleteFunc(requests, func(r request) bool { return !r.RequestReceivedTimestamp.After(moment) })
}

// readAuditLog reads the log that kube-apiserver writes under AuditPolicy.
func readAuditLog(t *testing.T, path string) []request {
	t.Helper()
	var requests []request
	for _, line := range completeLines(t, path) {
		var r request
		require.NoError(t, json.Unmarshal(line, &r), "line of the audit log: %s", line)
		if isStream := r.Verb == "watch"; (r.Stage == "ResponseStarted") == isStream {
			requests = append(requests, r)
		}
	}
	return requests
}

// completeLines returns the complete lines of a file that is still being written.
func completeLines(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := bytes.Split(text, []byte("\n"))
	return lines[:len(lines)-1]
}

// servedLine is a line of the log that the server in memory writes with servedLogArgs.
type servedLine struct {
	Time    time.Time `json:"time"`
	Message string    `json:"message"`
	URI     string    `json:"path"`
	Verb    string    `json:"verb"`
	User    string    `json:"user"`
	Client  string    `json:"client"`
	Code    int       `json:"code"`
	Took    float64   `json:"took_s"`
}

// readServedLog reads that log. A request has one line when it begins and one when it is answered;
// a watch counts from its first line.
func readServedLog(t *testing.T, path string) []request {
	t.Helper()
	var requests []request
	for _, text := range completeLines(t, path) {
		var line servedLine
		if !bytes.HasPrefix(text, []byte("{")) {
			continue // a line for people
		}
		require.NoError(t, json.Unmarshal(text, &line), "line of the server's log: %s", text)
		begins := line.Message == "request begins"
		if line.User != ControllerIdentity || !begins && line.Message != "request served" {
			continue
		}
		switch isStream := line.Verb == "watch"; {
		case begins == isStream:
			requests = append(requests, line.request(t))
		case isStream:
			open := slices.IndexFunc(requests, func(r request) bool { return r.RequestURI == line.URI && r.ResponseStatus.Code == 0 })
			require.GreaterOrEqual(t, open, 0, "a watch that ends has begun: %s", text)
			requests[open].ResponseStatus.Code = line.Code
		}
	}
	return requests
}

// request returns the line in the form of kube-apiserver's audit log.
func (l servedLine) request(t *testing.T) request {
	t.Helper()
	r := request{
		RequestURI: l.URI, Verb: l.Verb, UserAgent: l.Client,
		RequestReceivedTimestamp: l.Time.Add(-time.Duration(l.Took * float64(time.Second))),
	}
	r.ResponseStatus.Code = l.Code
	address, err := url.Parse(l.URI)
	require.NoError(t, err)
	resolver := apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := resolver.NewRequestInfo(&http.Request{Method: http.MethodGet, URL: address})
	require.NoError(t, err)
	ref := &r.ObjectRef
	ref.Resource, ref.Namespace, ref.Name, ref.APIGroup, ref.Subresource = info.Resource, info.Namespace, info.Name, info.APIGroup, info.Subresource
	return r
}
