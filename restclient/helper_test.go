package restclient_test

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// bubble runs a test against a handler in a synctest bubble. The bubble ends only when every
// goroutine of client and server has ended, so each of these tests is also a test for leaks.
func bubble(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, server *restclienttest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, restclienttest.NewServer(t, handler))
	})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body)
}

func refusal(code int, reason api.StatusReason, message string) api.Status {
	return api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   api.StatusFailure, Code: code, Reason: reason, Message: message,
	}
}

func namespace(name, version string) *api.Namespace {
	return &api.Namespace{
		TypeMeta:   api.TypeMeta{Kind: "Namespace", APIVersion: "v1"},
		ObjectMeta: api.ObjectMeta{Name: name, ResourceVersion: version},
	}
}

// script answers the n-th request with the n-th function, and begins anew after the last.
func script(answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		next := answers[n%len(answers)]
		n++
		mu.Unlock()
		next(w, r)
	}
}

// code answers with a code and an empty body; header holds pairs.
func code(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func ok(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusOK, map[string]string{"hello": "world"})
}

// hangUp closes the connection without an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// bodies counts the opened and the closed response bodies of a client, and the bytes read from
// them.
type bodies struct{ opened, closed, read atomic.Int64 }

func (b *bodies) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil {
			b.opened.Add(1)
			answer.Body = &countedBody{ReadCloser: answer.Body, count: b}
		}
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type countedBody struct {
	io.ReadCloser
	count *bodies
	once  sync.Once
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.count.read.Add(int64(n))
	return n, err
}

func (b *countedBody) Close() error {
	b.once.Do(func() { b.count.closed.Add(1) })
	return b.ReadCloser.Close()
}

func get(path string) restclient.Request { return restclient.Request{Path: path} }

// over makes watches use the transport.
func over(transport restclient.WatchTransport) func(*restclient.Config) {
	return func(cfg *restclient.Config) { cfg.WatchTransport = transport }
}

// as makes requests use the credentials.
func as(credentials restclient.Credentials) func(*restclient.Config) {
	return func(cfg *restclient.Config) { cfg.Credentials = credentials }
}

func podsOf(client *restclient.Client) *restclient.Resource[*api.PartialObjectMetadata] {
	return restclient.Metadata(client, api.PodsResource, "")
}

func namespacesOf(client *restclient.Client) *restclient.Resource[*api.Namespace] {
	return restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
}

// errorOf returns the error of a call that returns two values.
func errorOf[V any](_ V, err error) error { return err }

// watchOf opens a watch of pods.
func watchOf(t *testing.T, client *restclient.Client) api.Watcher[*api.PartialObjectMetadata] {
	t.Helper()
	w, err := podsOf(client).Watch(t.Context(), api.ListOptions{})
	require.NoError(t, err)
	return w
}

// watches serves watches, and answers all other requests with an empty list.
func watches(serve func(*restclienttest.Stream)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			io.WriteString(w, `{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]}`)
			return
		}
		restclienttest.ServeWatch(w, r, serve)
	}
}

// quiet serves watches without events.
var quiet = watches((*restclienttest.Stream).Wait)

// assertKind asserts that err is a *TransportError of this kind.
func assertKind(t *testing.T, kind restclient.TransportErrorKind, err error, why ...any) {
	t.Helper()
	var broken *restclient.TransportError
	if assert.ErrorAs(t, err, &broken, why...) {
		assert.Equal(t, kind, broken.Kind, why...)
	}
}
