package web_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/queue"
)

// run is a recorder with the hooks of a queue, for a test to call.
type run struct {
	*trace.Recorder
	queue *queue.Trace[string]
	n     uint64
}

// add records that a key was added to the queue, at once.
func (r *run) add(key string) {
	r.n++
	r.queue.Added(queue.Event[string]{Key: key, Seq: r.n})
	r.Flush()
}

// live starts a server for a run.
func live(t *testing.T) (*web.View, *run) {
	t.Helper()
	recorder, err := trace.Start(trace.Config{Header: trace.Header{Gears: "fast", Run: "test"}})
	require.NoError(t, err)
	t.Cleanup(func() { recorder.Stop("the test is over") })
	server, err := web.StartView(web.ViewConfig{Source: recorder})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server, &run{Recorder: recorder, queue: recorder.Queue("work")}
}

// at returns the address of another path of the same server, with the same token.
func at(t testing.TB, server *web.View, path string) *url.URL {
	t.Helper()
	address, err := url.Parse(server.URL())
	require.NoError(t, err)
	address.Path = path
	return address
}

// ask sends a request with a header and returns status, body and header of the answer.
func ask(t *testing.T, method, address string, header map[string]string) (code int, body string, answer http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	require.NoError(t, err)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	request.Host = header["Host"]
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text), response.Header
}

func TestOnlyThePageIsAnswered(t *testing.T) {
	server, run := live(t)
	run.add("one")
	run.Stop("done") // so that /trace ends
	own := map[string]string{"Origin": "http://127.0.0.1:" + at(t, server, "").Port()}
	nothing := func() (io.ReadCloser, error) { return os.Open(os.DevNull) }
	replay, err := web.StartView(web.ViewConfig{Recording: nothing})
	require.NoError(t, err)
	t.Cleanup(replay.Stop)
	assert.NotEqual(t, at(t, server, "").Port(), at(t, replay, "").Port(), "a free one if the default is taken")
	token := at(t, server, "").Query().Get("token")
	assert.Len(t, token, 26, "130 random bits")
	assert.NotEqual(t, token, at(t, replay, "").Query().Get("token"))
	for name, c := range map[string]struct {
		method, path string // with a query, unless that is the token
		header       map[string]string
		code         int
	}{
		"the page":             {path: "/", code: 200},
		"a module":             {path: "/main.js", code: 200},
		"lines for the page":   {path: "/trace", header: own, code: 200},
		"no token":             {path: "/trace?", code: 403},
		"a wrong token":        {path: "/socket?token=" + strings.Repeat("0", 32), code: 403},
		"another host":         {path: "/", header: map[string]string{"Host": "example.com"}, code: 403},
		"another origin":       {path: "/trace", header: map[string]string{"Origin": "http://example.com"}, code: 403},
		"POST":                 {method: http.MethodPost, path: "/trace", code: 405},
		"no such file":         {path: "/doc.go", code: 404},
		"the directory":        {path: "/vendor/", code: 404},
		"no recording":         {path: "/recording", code: 404},
		"a recording":          {path: "replay /recording", code: 200},
		"one without a token":  {path: "replay /recording?", code: 403},
		"code without a token": {path: "/code?", code: 403},
	} {
		path, query, hasQuery := strings.Cut(c.path, "?")
		address := at(t, server, path)
		if path, ok := strings.CutPrefix(path, "replay "); ok {
			address = at(t, replay, path)
		}
		if hasQuery {
			address.RawQuery = query
		}
		code, _, header := ask(t, cmp.Or(c.method, http.MethodGet), address.String(), c.header)
		assert.Equal(t, c.code, code, name)
		if code == 200 {
			assert.Equal(t, "no-referrer", header.Get("Referrer-Policy"), name)
			assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), name)
		}
	}
	_, lines, _ := ask(t, http.MethodGet, at(t, server, "/trace").String(), nil)
	assert.Equal(t, []string{"header", "state", "one", "trace.end"}, keys(t, lines), "of the whole run")
	_, html, header := ask(t, http.MethodGet, at(t, server, "/").String(), nil)
	assert.NotContains(t, html, "<!--", "every mark of the page is filled in")
	assert.Contains(t, html, `"orrery/state.js":"./state.js"`, "the import map")
	policy := header.Get("Content-Security-Policy")
	assert.Contains(t, policy, "default-src 'none'")
	assert.NotContains(t, policy, "unsafe")
}

// dial opens a socket.
func dial(t *testing.T, server *web.View) *websocket.Conn {
	t.Helper()
	address := at(t, server, "/socket")
	origin := "http://" + address.Host
	address.Scheme = "ws"
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), address.String(), http.Header{"Origin": {origin}})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// keys returns the keys of the events in lines, the name of the event where there is none, and what
// the other lines are.
func keys(t *testing.T, lines string) (found []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		if strings.HasPrefix(line, `{"h":`) {
			found = append(found, "header")
			continue
		}
		var e trace.Event
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		found = append(found, cmp.Or(e.Key, e.Name, "state"))
	}
	return found
}

// receive reads messages until there are n lines.
func receive(t *testing.T, conn *websocket.Conn, n int) []string {
	t.Helper()
	var found []string
	for len(found) < n {
		_, text, err := conn.ReadMessage()
		require.NoError(t, err)
		found = append(found, keys(t, string(text))...)
	}
	return found
}

// A page that never reads slows neither another page nor the end.
func TestASocketHasTheRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server, run := live(t)
	deaf := dial(t, server)
	run.add("one")
	run.add("two")
	conn := dial(t, server)
	command := web.Command{Do: "close", Gate: "G1"} // of the laboratory; a run without gates has no answer to it
	require.NoError(t, conn.WriteJSON(command))
	assert.Equal(t, []string{"header", "state", "one", "two"}, receive(t, conn, 4))
	for i := range 100 {
		key := strconv.Itoa(i)
		run.add(key)
		assert.Equal(t, []string{key}, receive(t, conn, 1))
	}
	run.add("last")
	server.Stop()
	var rest strings.Builder
	var err error
	for text := []byte(nil); err == nil; _, text, err = conn.ReadMessage() {
		rest.Write(text)
	}
	assert.Equal(t, []string{"last"}, keys(t, rest.String()), "what happened before the end")
	closed, ok := errors.AsType[*websocket.CloseError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "the program has stopped", closed.Text)
	conn.Close()
	deaf.Close()
	run.Stop("the test is over")
}

// Every user of a machine can read the arguments of a process. The browser gets the name of a file
// that only its owner can read.
func TestTheTokenIsNotAnArgumentOfTheBrowser(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	require.NoError(t, syscall.Mkfifo(started, 0o600))
	browser := "#!/bin/sh\necho \"$*\" > " + started + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(browser), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":0")
	t.Setenv("TMPDIR", t.TempDir())

	server, err := (&web.Flags{}).Start(web.ViewConfig{}, io.Discard)
	require.NoError(t, err)
	arguments, err := os.ReadFile(started) // waits for the browser
	require.NoError(t, err)
	name := strings.TrimSpace(string(arguments))
	token := at(t, server, "").Query().Get("token")
	assert.NotContains(t, name, token)
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(page), "0;url=http://127.0.0.1:")
	assert.Contains(t, string(page), "token="+token)
	server.Stop()
	assert.NoFileExists(t, name, "the page has gone")
}
