package web_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/observe/metrics"
	"orrery/internal/observe/web"
)

// startDebug starts a server on a free port. It is stopped when the test ends.
func startDebug(t *testing.T, config web.DebugConfig) *web.DebugServer {
	t.Helper()
	config.Address = "127.0.0.1:0"
	server, err := web.StartDebug(config)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server
}

func address(server *web.DebugServer, path string) string { return "http://" + server.Addr() + path }

// get returns the code and the body of an answer: "200 ok".
func get(t *testing.T, server *web.DebugServer, path string) string {
	t.Helper()
	code, body, _ := ask(t, http.MethodGet, address(server, path), nil)
	return fmt.Sprint(code, " ", body)
}

func TestHealthIsAnsweredAsKubernetesDoes(t *testing.T) {
	server := startDebug(t, web.DebugConfig{})
	var ill error
	server.Live("leaderElection", func() error { return ill })
	server.Ready("informer-sync", func() error { return errors.New("the store of namespaces is not filled yet") })

	for path, want := range map[string]string{
		"/livez":                "200 ok",
		"/healthz":              "200 ok",
		"/livez?verbose":        "200 [+]ping ok\n[+]leaderElection ok\nlivez check passed\n",
		"/healthz?verbose=1":    "200 [+]ping ok\n[+]leaderElection ok\nhealthz check passed\n",
		"/livez/leaderElection": "200 ok",
		"/healthz/ping":         "200 ok",
		"/readyz/ping":          "200 ok",
		"/readyz": "500 [+]ping ok\n[-]informer-sync failed: the store of namespaces is not filled " +
			"yet\nreadyz check failed\n",
		"/readyz/informer-sync": "500 internal server error: the store of namespaces is not filled yet\n",
		"/readyz/nonsense":      "404 readyz has no check of that name\n",
	} {
		assert.Equal(t, want, get(t, server, path), path)
	}
	ill = errors.New("the Lease ran out")
	for _, name := range []string{"livez", "healthz"} {
		assert.Equal(t, "500 [+]ping ok\n[-]leaderElection failed: the Lease ran out\n"+name+" check failed\n",
			get(t, server, "/"+name))
	}
}

type Inner struct {
	ID  uint64
	QPS float32
}

type snapshot struct {
	Inner
	Name        string
	UIDOf       map[int]string
	Month       time.Month
	LastError   error
	Took        time.Duration
	When, Never time.Time
	Missing     *Inner
	List        []Inner
	Keys        []string
	hidden      string
}

// A request may name one gear, or all of a kind.
func TestGearsAreShownAsJSON(t *testing.T) {
	server := startDebug(t, web.DebugConfig{})
	assert.Equal(t, "200 {}\n", get(t, server, "/debug/orrery"))
	first := snapshot{
		Inner: Inner{ID: 7, QPS: 1.5}, Name: "n", UIDOf: map[int]string{2: "b", 1: "a"}, Month: 1,
		LastError: fmt.Errorf("wrapped: %w", io.EOF), Took: 90 * time.Second,
		When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), List: []Inner{{ID: 1}}, hidden: "secret",
	}
	server.Show("first", func() any { return first })
	for _, name := range []string{"informer/pods", "gears", "informer/namespaces", "informers"} {
		server.Show(name, func() any { return name })
	}
	const informers = `"informer":{"namespaces":"informer/namespaces","pods":"informer/pods"}`
	const shown = `{"first":{"id":7,"keys":[],"lastError":"wrapped: EOF","list":[{"id":1,"qps":0}],` +
		`"missing":null,"month":"January","name":"n","never":null,"qps":1.5,"took":"1m30s","uidOf":{"1":"a","2":"b"},` +
		`"when":"2026-01-02T03:04:05Z"},"gears":"gears",` + informers + `,"informers":"informers"}`
	code, body, header := ask(t, http.MethodGet, address(server, "/debug/orrery"), nil)
	assert.Equal(t, 200, code)
	assert.Equal(t, "application/json", header.Get("Content-Type"))
	assert.Equal(t, shown+"\n", body)
	for query, want := range map[string]string{
		"?gear=informer":            `200 {` + informers + `}`,
		"?gear=informer/namespaces": `200 {"informer":{"namespaces":"informer/namespaces"}}`,
		"?gear=gears":               `200 {"gears":"gears"}`,
		"?gear=gears&pretty":        "200 {\n  \"gears\": \"gears\"\n}",
		"?gear=third": "404 there is no gear of that name; there is: first, informer/pods, gears, " +
			"informer/namespaces, informers",
	} {
		assert.Equal(t, want+"\n", get(t, server, "/debug/orrery"+query), query)
	}
	server.Show("worse", func() any { return 1i })
	assert.Contains(t, get(t, server, "/debug/orrery"), "500 this cannot be shown")
}

// Profiles are served only if they were enabled. Nothing can be changed, and a page in a browser
// whose name resolves to this machine (DNS rebinding) is refused.
func TestWhatIsAnswered(t *testing.T) {
	off := startDebug(t, web.DebugConfig{})
	on := startDebug(t, web.DebugConfig{Profiling: true, Metrics: metrics.New("v7").Handler()})
	for _, c := range []struct {
		server             *web.DebugServer
		method, path, want string
	}{
		{off, "GET", "/debug/pprof/", "^404 "}, {off, "GET", "/debug/pprof/goroutine", "^404 "},
		{off, "GET", "/debug/pprof/cmdline", "^404 "}, {off, "GET", "/nonsense", "^404 "},
		{off, "GET", "/metrics", "^404 "},
		{on, "GET", "/metrics", `^200 .*orrery_build_info{go_version="[^"]+",version="v7"} 1`},
		{on, "GET", "/debug/pprof/", "^200 .*goroutine"},
		{on, "GET", "/debug/pprof/goroutine?debug=1", "^200 goroutine profile: total"},
		{on, "GET", "/debug/pprof/heap?debug=1", "^200 heap profile"},
		{on, "GET", "/debug/pprof/symbol", "^200 num_symbols"},
		{on, "POST", "/debug/pprof/symbol", "^200 "}, // the form of go tool pprof
		{on, "HEAD", "/livez", "^200 $"},
		{on, "POST", "/metrics", "^405 "}, {on, "PUT", "/livez", "^405 "}, {on, "DELETE", "/debug/orrery", "^405 "},
		{on, "PATCH", "/debug/pprof/profile", "^405 "}, {on, "PURGE", "/nonsense", "^404 "},
	} {
		code, body, header := ask(t, c.method, address(c.server, c.path), nil)
		assert.Regexp(t, "(?s)"+c.want, fmt.Sprint(code, " ", body), "%s %s", c.method, c.path)
		if code == http.StatusMethodNotAllowed {
			assert.Equal(t, "GET, HEAD", header.Get("Allow"))
		}
		assert.Equal(t, "no-store", header.Get("Cache-Control"))
		assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
	}
	code, _, _ := ask(t, http.MethodGet, address(on, "/debug/orrery"), map[string]string{"Host": "evil.example"})
	assert.Equal(t, 403, code)
	_, _, header := ask(t, http.MethodGet, address(on, "/metrics"), nil)
	assert.Contains(t, header.Get("Content-Type"), "text/plain; version=0.0.4")
}

// Stop aborts responses that do not end, and leaves nothing behind: the port is free, idle
// connections are closed, and goleak finds no goroutine.
func TestStopLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	entered, release := make(chan struct{}), make(chan struct{})
	server := startDebug(t, web.DebugConfig{
		Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			entered <- struct{}{}
			<-release
		}),
	})
	idle, err := net.Dial("tcp", server.Addr())
	require.NoError(t, err)
	defer idle.Close()
	var askers sync.WaitGroup
	askers.Go(func() {
		if answer, err := http.Get(address(server, "/metrics")); err == nil {
			answer.Body.Close()
		}
	})
	<-entered
	server.Stop() // it takes its second: the handler does not return before
	askers.Wait()
	close(release)
	server.Stop()
	_, err = net.Dial("tcp", server.Addr())
	assert.Error(t, err)
	again, err := web.StartDebug(web.DebugConfig{Address: server.Addr()})
	require.NoError(t, err)
	again.Stop()
}
