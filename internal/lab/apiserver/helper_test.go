package apiserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/restclienttest"
)

// piped is a server with connections over pipes, so that it can run in a synctest bubble. It
// requires no credentials unless configured otherwise.
type piped struct {
	t      *testing.T
	server *apiserver.Server
	pipes  *restclienttest.Server
	client *http.Client
}

// newPiped starts a server without workers, whose heartbeats would let time pass.
func newPiped(t *testing.T, changes ...func(*apiserver.Config)) *piped {
	t.Helper()
	config := apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true}
	for _, change := range changes {
		change(&config)
	}
	server, err := apiserver.New(config)
	require.NoError(t, err)
	pipes := restclienttest.NewServer(t, server.Handler())
	transport := &http.Transport{DialContext: pipes.Dial, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		assert.NoError(t, server.Stop(context.Background()))
		time.Sleep(time.Second) // net/http lingers on connections that it closes after a body that is too large
	})
	return &piped{t: t, server: server, pipes: pipes, client: &http.Client{Transport: transport}}
}

type answer struct {
	code   int
	header http.Header
	body   string
}

// do sends a request. Headers are pairs of name and value.
func (p *piped) do(method, path, body string, headers ...string) answer {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, "http://apiserver.test"+path,
		strings.NewReader(body))
	require.NoError(p.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := p.client.Do(request)
	require.NoError(p.t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	return answer{code: response.StatusCode, header: response.Header, body: string(data)}
}

// must sends a request and expects the code.
func (p *piped) must(code int, method, path, body string, headers ...string) answer {
	p.t.Helper()
	got := p.do(method, path, body, headers...)
	require.Equal(p.t, code, got.code, "%s %s: %s", method, path, got.body)
	return got
}

// configMap creates a ConfigMap in the namespace default.
func (p *piped) configMap(name string) {
	p.t.Helper()
	p.must(http.StatusCreated, "POST", configMaps, `{"metadata":{"name":"`+name+`"},"data":{"k":"v"}}`)
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// message returns the message of a Status.
func (a answer) message(t *testing.T) string {
	t.Helper()
	var status struct{ Kind, Message string }
	require.NoError(t, json.Unmarshal([]byte(a.body), &status), a.body)
	require.Equal(t, "Status", status.Kind)
	return status.Message
}

// restClient returns this project's client for the server.
func (p *piped) restClient(changes ...func(*restclient.Config)) *restclient.Client {
	return p.pipes.Client(changes...)
}

// event is a line of a watch.
type event struct {
	Type   string
	Object struct {
		Kind, APIVersion, Message, Reason string
		Code                              int
		Metadata                          struct {
			Name, ResourceVersion string
			Annotations           map[string]string
		}
		Data map[string]string
		Rows []struct{ Cells []any }
	}
}

type watching struct {
	t     *testing.T
	lines *bufio.Scanner
	body  io.Closer
}

// watch opens a watch over plain HTTP.
func (p *piped) watch(path string, headers ...string) *watching {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), "GET", "http://apiserver.test"+path, nil)
	require.NoError(p.t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := p.client.Do(request)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, response.StatusCode)
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<22)
	p.t.Cleanup(func() { response.Body.Close() })
	return &watching{t: p.t, lines: lines, body: response.Body}
}

// next returns the next event, or false when the watch has ended.
func (w *watching) next() (event, bool) {
	w.t.Helper()
	if !w.lines.Scan() {
		return event{}, false
	}
	var e event
	require.NoError(w.t, json.Unmarshal(w.lines.Bytes(), &e), w.lines.Text())
	return e, true
}

// want expects an event about an object.
func (w *watching) want(kind, name string) event {
	w.t.Helper()
	e, ok := w.next()
	require.True(w.t, ok, "watch ended: %v", w.lines.Err())
	require.Equal(w.t, kind+" "+name, e.Type+" "+e.Object.Metadata.Name)
	return e
}

// ends expects a graceful end.
func (w *watching) ends() {
	w.t.Helper()
	e, ok := w.next()
	require.False(w.t, ok, "%+v", e)
	require.NoError(w.t, w.lines.Err())
}

// breaks expects a broken connection.
func (w *watching) breaks() {
	w.t.Helper()
	_, ok := w.next()
	require.False(w.t, ok)
	require.ErrorIs(w.t, w.lines.Err(), io.ErrUnexpectedEOF)
}
