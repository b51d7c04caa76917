package apiserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"orrery/internal/lab/apiserver"
)

// FuzzRequest sends arbitrary requests. The server must not panic or grow, and every error must be
// a Status or one of kube-apiserver's plain texts.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][5]string{
		{"GET", "/api/v1/namespaces", "", "", ""},
		{"GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion=0",
			"application/json;as=Table;g=meta.k8s.io;v=v1", "", ""},
		{"POST", "/api/v1/namespaces/default/configmaps?fieldValidation=Strict&dryRun=All", "",
			"application/json", `{"metadata":{"name":"a"},"data":{"k":"v"}}`},
		{"POST", "/api/v1/namespaces", "*/*", "application/vnd.kubernetes.protobuf",
			"k8s\x00\n\x0f\n\x02v1\x12\tNamespace\x12\x05\n\x03\n\x01a"},
		{"PATCH", "/api/v1/namespaces/default?dryRun=All", "", "application/json-patch+json",
			`[{"op":"add","path":"/metadata/labels/a","value":"b"}]`},
		{"PATCH", "/api/v1/namespaces/default?dryRun=All", "", "application/strategic-merge-patch+json",
			`{"metadata":{"labels":{"a":null}}}`},
		{"PUT", "/api/v1/namespaces/default/finalize?dryRun=All", "", "application/json",
			`{"metadata":{"name":"default"}}`},
		{"DELETE", "/api/v1/namespaces/default/configmaps?labelSelector=a+in+(b)&dryRun=All", "", "application/json",
			`{"propagationPolicy":"Orphan"}`},
		{"GET", "/apis?x=%zz", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "", ""},
		{"GET", "/openapi/v3/apis/apps/v1?hash=x", "text/html;q=0.1,*/*;q=2", "", ""},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", "application/json",
			`{"spec":{"resourceAttributes":{"verb":"get"}}}`},
		{"GET", "/api/v1/watch/namespaces/default/pods/a?timeoutSeconds=1", "", "", ""},
		{"GET", "/api/v1/namespaces?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", "", "", ""},
		{"GET", "//api/v1/../v1/namespaces/%2e%2e/pods", "", "", ""},
		{"POST", "/debug/orrery/faults", "", "", "bad:fault="},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	panicked := false
	trace := &apiserver.Trace{Panicked: func(apiserver.RequestInfo, any, []byte) { panicked = true }}
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true, Trace: trace})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { server.Stop(context.Background()) })
	f.Fuzz(func(t *testing.T, method, target, accept, contentType, body string) {
		address, err := url.ParseRequestURI(target)
		if err != nil || strings.HasPrefix(address.Path, "/debug/") && method == http.MethodPost {
			return // net/http would refuse it, or it breaks the server on purpose
		}
		// An unbounded watch ends with its client.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", strings.NewReader(body))
		request.Method, request.URL, request.RequestURI = method, address, target
		request.Header.Set("Accept", accept)
		request.Header.Set("Content-Type", contentType)
		recorder := httptest.NewRecorder()
		if serveOne(server.Handler(), recorder, request) {
			return // a watch, broken off because its client is gone
		}
		if panicked {
			t.Fatalf("%s %s panicked", method, target)
		}
		checkAnswer(t, recorder)
	})
}

// serveOne runs a handler like net/http and reports whether it aborted.
func serveOne(handler http.Handler, w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		if value := recover(); value != nil {
			if value != http.ErrAbortHandler {
				panic(value)
			}
			aborted = true
		}
	}()
	handler.ServeHTTP(w, r)
	return false
}

// checkAnswer checks the form of an error.
func checkAnswer(t *testing.T, answer *httptest.ResponseRecorder) {
	t.Helper()
	body := answer.Body.String()
	if answer.Code < 400 || body == "" {
		return
	}
	switch mediaType := answer.Header().Get("Content-Type"); mediaType {
	case "application/json":
		var status struct {
			Kind, Status, Message string
			Code                  int
		}
		if err := json.Unmarshal([]byte(body), &status); err != nil || status.Kind != "Status" ||
			status.Code != answer.Code || status.Message == "" {
			t.Fatalf("%d %s", answer.Code, body)
		}
	default:
		if body != "404 page not found\n" && body != "service unavailable\n" {
			t.Fatalf("%d %s %q", answer.Code, mediaType, body)
		}
	}
}
