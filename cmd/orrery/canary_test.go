package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
)

// canary is a secret. It must not appear in any output of the program.
const canary = "canary-0123456789-abcdef"

// gossip is a server that repeats what it was sent at every opportunity: in refusals of all
// kinds, in warnings, in watch events, in ordinary answers. It refuses each request the first
// time and serves it from then on.
type gossip struct {
	inner http.Handler

	mu    sync.Mutex
	asked map[string]bool
}

// first reports whether this is requested for the first time.
func (g *gossip) first(r *http.Request) bool {
	what := r.Method + r.URL.Path + r.URL.Query().Get("watch") + r.URL.Query().Get("sendInitialEvents")
	g.mu.Lock()
	defer g.mu.Unlock()
	asked := g.asked[what]
	g.asked[what] = true
	return !asked
}

func (g *gossip) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	said := r.Header.Get("Authorization")
	said = said[strings.Index(said, " ")+1:]
	if decoded, err := base64.StdEncoding.DecodeString(said); err == nil && strings.HasPrefix(string(decoded), "joe:") {
		said = strings.TrimPrefix(string(decoded), "joe:")
	}
	w.Header().Add("Warning", `299 - "deprecated, said `+said+`"`)
	refuse := func(code int, reason api.StatusReason) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: "Failure", Code: code, Reason: reason,
			Message: "I do not like " + said, Details: &api.StatusDetails{Name: said,
				Causes: []api.StatusCause{{Message: said}}}})
	}
	path, first := r.URL.Path, g.first(r)
	switch {
	case path == "/version":
		fmt.Fprintf(w, `{"gitVersion":"v1.36.3-%s"}`, said)
	case strings.HasSuffix(path, "/blue/secrets") && r.Method == "DELETE":
		refuse(403, api.ReasonForbidden) // permanently: it ends up in a condition
	case strings.HasSuffix(path, "/configmaps") && first:
		http.Error(w, "no "+said, http.StatusBadGateway)
	case strings.HasSuffix(path, "/serviceaccounts") && first:
		fmt.Fprintf(w,
			`{"kind":"PartialObjectMetadataList","items":[{"metadata":{"name":"x","creationTimestamp":%q}}]}`, said)
	case strings.HasSuffix(path, "/finalize") && first:
		refuse(422, api.ReasonInvalid)
	case strings.HasSuffix(path, "/status") && first:
		refuse(409, api.ReasonConflict)
	case strings.Contains(path, "/leases") && first:
		refuse(500, api.ReasonInternalError)
	case strings.HasSuffix(path, "/events") && first:
		hijacked, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			fmt.Fprintf(hijacked, "%s\r\n\r\n", said)
			hijacked.Close()
		}
	case isWatch(r) && first:
		fmt.Fprintf(w,
			`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old, %s"}}`, said)
	default:
		g.inner.ServeHTTP(w, r)
	}
}

// No secret appears in the log, at the highest verbosity and in either format, on any page the
// program serves, or in a condition or an Event it writes.
func TestNothingShowsASecret(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), "plugin")
	require.NoError(t, os.WriteFile(plugin, []byte("#!/bin/sh\necho 'logging in with "+canary+"' >/dev/null\n"+
		`echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"`+canary+`"}}'`+"\n"), 0o700))
	tokenFile := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(tokenFile, []byte(canary), 0o600))
	users := map[string]string{
		"token":      `{"token":"` + canary + `"}`,
		"token file": `{"tokenFile":"` + tokenFile + `"}`,
		"plugin": login(plugin,
			`"args":["--password=`+canary+`"],"env":[{"name":"PASSWORD","value":"`+canary+`"}],`),
		"impersonation": `{"token":"` + canary + `","as":"system:admin","as-groups":["system:masters"]}`,
	}
	for _, run := range [][3]string{
		{"token", "text", "http"}, {"token", "json", "websocket"}, {"token file", "json", "http"},
		{"plugin", "text", "websocket"}, {"impersonation", "json", "http"},
	} {
		t.Run(strings.Join(run[:], ", "), func(t *testing.T) {
			tellNothing(t, users[run[0]], "--log-format="+run[1], "--watch-transport="+run[2])
		})
	}
}

func tellNothing(t *testing.T, user string, args ...string) {
	server, err := apiserver.New(apiserver.Config{Tokens: map[string]apiserver.User{canary: {Name: "orrery",
		Groups: []string{apiserver.GroupMasters}}}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, server.Stop(context.Background())) }()
	admin := func(method, path, body string) string {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+server.Token())
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		return answer.Body.String()
	}
	for _, name := range []string{"blue", "red"} {
		admin("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
		admin("POST", "/api/v1/namespaces/"+name+"/secrets",
			`{"metadata":{"name":"s"},"stringData":{"password":"`+canary+`"}}`)
		admin("POST", "/api/v1/namespaces/"+name+"/configmaps",
			`{"metadata":{"name":"c","annotations":{"password":"`+canary+`"}},"data":{"x":"`+canary+`"}}`)
	}
	url := serveTLS(t, &gossip{inner: server.Handler(), asked: map[string]bool{}})
	port := programtest.FreePort(t)
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, append([]string{"--kubeconfig", writeTLSKubeconfig(t, url, user), "-v9",
		"--profiling", "--metrics-port=" + strconv.Itoa(port), "--namespace-deletion-grace-period=0",
		"--allow-second-controller", "--leader-elect", "--leader-elect-retry-period=100ms",
		// The default is short for a busy machine: the leader would lose its Lease.
		"--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=30m"}, args...)...)
	admin("DELETE", "/api/v1/namespaces/blue", "")
	admin("DELETE", "/api/v1/namespaces/red", "")
	await(t, func() bool {
		return strings.Contains(admin("GET", "/api/v1/namespaces/blue", ""), "ContentDeletionFailed") &&
			strings.Contains(admin("GET", "/api/v1/namespaces/red", ""), "NotFound") &&
			strings.Contains(admin("GET", "/api/v1/namespaces/default/events", ""), "NamespaceDeleted")
	}, func() string { return stderr.String() })
	for _, path := range []string{"/metrics", "/debug/orrery", "/livez?verbose", "/readyz?verbose",
		"/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2"} {
		said := asked(port, path)
		require.NotEmpty(t, said, path)
		assert.NotContains(t, said, canary, path)
	}
	stop()
	require.NoError(t, <-ended)
	for line := range strings.Lines(stderr.String()) {
		require.NotContains(t, line, canary)
	}
	for _, reported := range []string{"connected", "[redacted]", "the API server warns", "condition holds",
		"request failed, retrying", "namespace finalized"} {
		assert.Contains(t, stderr.String(), reported)
	}
	assert.NotContains(t, admin("GET", "/api/v1/namespaces/blue", ""), canary, "its conditions")
	assert.NotContains(t, admin("GET", "/api/v1/namespaces/default/events", ""), canary)
}

// A setting that cannot be used is reported without quoting it.
func TestMistakesInAConfigurationAreNotQuoted(t *testing.T) {
	failing := filepath.Join(t.TempDir(), "plugin")
	require.NoError(t, os.WriteFile(failing, []byte("#!/bin/sh\necho "+canary+"\nexit 1\n"), 0o700))
	exec := func(command string) string {
		return login(command, `"args":["`+canary+`"],`)
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	configs := map[string]string{
		"malformed":  "users:\n- name: u\n  user: {token: " + canary + "\n",
		"wrong type": "users: " + canary,
		"key, not base64": config(closed.URL,
			`{"client-key-data":"`+canary+`!","client-certificate-data":"`+canary+`!"}`, ""),
		"key, not PEM": config(closed.URL,
			`{"client-key-data":"`+encoded(canary)+`","client-certificate-data":"`+encoded(canary)+`"}`, ""),
		"authority": config("https://127.0.0.1:1", `{}`, `"certificate-authority-data":"`+encoded(canary)+`",`),
		"token":     config(closed.URL, `{"token":"`+canary+`\n`+canary+`"}`, ""),
		"two credentials": config(closed.URL,
			`{"token":"`+canary+`","username":"joe","password":"`+canary+`"}`, ""),
		"password":           config(closed.URL, `{"username":"joe","password":"`+canary+`"}`, ""),
		"password, odd name": config(closed.URL, `{"username":"joe:`+canary+`","password":"`+canary+`"}`, ""),
		"user in the server": config("https://joe:"+canary+"@server:6443", `{}`, ""),
		"server, no URL":     config("https://joe:"+canary+"@server:bad", `{}`, ""),
		"no such host":       config("https://orrery.invalid/"+canary, `{}`, ""),
		"proxy, no URL":      config(closed.URL, `{}`, `"proxy-url":"http://joe:`+canary+`@proxy:bad",`),
		"proxy, scheme":      config(closed.URL, `{}`, `"proxy-url":"gopher://joe:`+canary+`@proxy",`),
		"proxy away": config("http://orrery.invalid", `{"token":"`+canary+`"}`,
			`"proxy-url":"`+strings.Replace(closed.URL, "//", "//joe:"+canary+"@", 1)+`",`),
		"plugin fails":          config("https://127.0.0.1:1", exec(failing), ""),
		"plugin prints no JSON": config("https://127.0.0.1:1", exec("echo"), ""),
		"no such plugin":        config("https://127.0.0.1:1", exec("/nonexistent/plugin"), ""),
		"no context": strings.Replace(config(closed.URL, `{"token":"`+canary+`"}`, ""),
			`"current-context":"c"`, `"current-context":"d"`, 1),
	}
	for name, text := range configs {
		for _, format := range []string{"text", "json"} {
			code, stdout, stderr := orrery(t,
				"run", "-v9", "--log-format", format, "--metrics-port=0", "--kubeconfig", write(t, text))
			assert.Equal(t, 1, code, name)
			assert.NotEmpty(t, stderr, name)
			if name != "no such host" { // a path is no secret; only the text around it may be
				assert.NotContains(t, stdout+stderr, canary, name)
			}
		}
	}
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// hostile has what moves the cursor of a terminal, sets its title, begins a line, and the same with
// controls of one character.
const hostile = "ok\x1b[2K\x1b]0;owned\a\rover\nforged 1m hangs \x7f\u009b2J"

// safe fails if a text has a control character that is not of its layout.
func safe(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "")
		assert.Negative(t, strings.IndexFunc(line, unicode.IsControl),
			"a control character reaches the terminal: %q", line)
		assert.False(t, strings.HasPrefix(line, "forged"), "a text of the cluster begins a line: %q", text)
	}
}

// Conditions, holders of Leases and the words of servers are written by others.
func TestWhatAClusterSaysDoesNotReachTheTerminalAsItIs(t *testing.T) {
	path := builtIn(t)
	client := clientOf(t, path)
	deleteNamespace(t, client, "shop")
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	namespace, err := namespaces.Get(t.Context(), "shop", api.GetOptions{})
	require.NoError(t, err)
	namespace.Status.Conditions = []api.NamespaceCondition{
		{Type: "NamespaceContentRemaining", Status: api.ConditionTrue, Reason: "Some", Message: hostile},
	}
	_, err = namespaces.UpdateStatus(t.Context(), namespace, api.UpdateOptions{})
	require.NoError(t, err)
	holder, err := json.Marshal(hostile)
	require.NoError(t, err)
	do(t, client, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
		`{"metadata":{"name":"orrery"},"spec":{"leaseDurationSeconds":9000,"renewTime":"2199-01-01T00:00:00.000000Z",
			"holderIdentity":`+string(holder)+`}}`)

	for _, output := range []string{"text", "json"} {
		_, stdout, stderr := orrery(t, "status", "--kubeconfig", path, "-o", output)
		safe(t, stdout+stderr)
		assert.Contains(t, stdout, "over", "it is shown")
		if output == "text" {
			assert.Contains(t, stdout, `ok^[[2K^[]0;owned^G\rover\nforged 1m hangs \u007f\u009b2J`)
		}
	}
	_, stdout, stderr := orrery(t, "why", "shop", "--kubeconfig", path, "--no-wait")
	safe(t, stdout+stderr)

	refused := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		kind := api.TypeMeta{Kind: "Status", APIVersion: "v1"}
		_ = json.NewEncoder(w).Encode(api.Status{TypeMeta: kind, Status: "Failure", Code: 400, Message: hostile})
	}))
	for _, args := range [][]string{{"status"}, {"run"}, {"run", "--log-format", "json", "-v2"}, {"why", "shop"}} {
		_, stdout, stderr := orrery(t, append(args, "--kubeconfig", writeKubeconfig(t, refused, "{}"))...)
		safe(t, stdout+stderr)
		assert.Contains(t, stderr, "over", "%v: it is shown", args)
	}
}
