package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// orrery runs the program without a kubeconfig of the user's own.
func orrery(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	var out, err bytes.Buffer
	code = runProgram(newRootCommand(), args, &out, &err)
	return code, out.String(), err.String()
}

func TestMistakesGetOneClearSentence(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"rnu"}, `unknown command "rnu"; did you mean run? (see "orrery --help")`},
		{[]string{"demo"}, `unknown command "demo"`},
		{[]string{"help", "nosuch"}, `unknown command "nosuch"`},
		{[]string{"run", "now"}, `unexpected argument "now"`},
		{[]string{"run", "--nope"}, `unknown flag: --nope (see "orrery run --help")`},
		{[]string{"run", "--concurrent-namespace-syncs", "0"}, `--concurrent-namespace-syncs must be at least 1`},
		{[]string{"run", "--concurrent-namespace-syncs", "many"}, `"many"`},
		{[]string{"run", "--concurrent-resource-types", "0"}, `--concurrent-resource-types must be at least 1`},
		{[]string{"run", "--namespace-deletion-grace-period", "-1s"}, `must not be negative`},
		{[]string{"run", "--namespace-sync-period", "0"}, `--namespace-sync-period must be positive`},
		{[]string{"run", "--shutdown-timeout", "0"}, `--shutdown-timeout must be positive`},
		{[]string{"run", "--kube-api-qps", "0"}, `--kube-api-qps must not be 0`},
		{[]string{"run", "--kube-api-qps", "nan"}, `--kube-api-qps takes a number, not NaN`},
		{[]string{"run", "--kube-api-qps", "-inf"}, `--kube-api-qps takes a number, not -Inf`},
		{[]string{"run", "--once"}, `--once needs --dry-run`},
		{[]string{"run", "--as-group", "devs"}, `--as-group needs --as`},
		{[]string{"run", "--kube-api-burst", "0"}, `--kube-api-burst must be at least 1`},
		{[]string{"run", "-v=-1"}, `-v must not be negative`},
		{[]string{"run", "--watch-transport", "pigeon"}, `there is no watch transport "pigeon"; use http or websocket`},
		{[]string{"run", "--log-format", "xml"}, `there is no log format "xml"; use text or json`},
		{[]string{"run", "--leader-elect-resource-lock", "endpoints"}, `--leader-elect-resource-lock must be leases, there is no lock "endpoints"`},
		{[]string{"run", "--leader-elect-resource-name", ""}, `--leader-elect-resource-name must not be empty`},
		{[]string{"run", "--leader-elect-resource-namespace", ""}, `--leader-elect-resource-namespace must not be empty`},
		{[]string{"run", "--leader-elect-retry-period", "0"}, `must be positive`},
		{[]string{"run", "--leader-elect-lease-duration", "10s"}, `--leader-elect-lease-duration (10s) must be longer than --leader-elect-renew-deadline (10s)`},
		{[]string{"run", "--leader-elect-retry-period", "9s"}, `--leader-elect-renew-deadline (10s) must be longer than 1.2 times --leader-elect-retry-period (9s)`},
		{[]string{"run", "--controllers", "foo"}, `there is no controller "foo"; use * or one of: deployment-controller, garbage-collector-controller, namespace-controller, `},
		{[]string{"run", "--controllers", "*,-namespace"}, `no controller is left to run`},
		{[]string{"run", "--namespaces", "team-*,Team"}, `--namespaces: "Team" matches no namespace: a pattern has lower-case letters, digits, "-", "*" and "?"`},
		{[]string{"run", "--namespaces", "a,"}, `--namespaces: "" matches no namespace`},
		{[]string{"run", "--namespaces", "team-*,-team-*"}, `--namespaces: "-team-*" excludes all that "team-*" includes`},
		{[]string{"run", "--namespaces", ""}, `--namespaces: give at least one pattern; "*" selects all namespaces`},
		{[]string{"run", "--namespaces", "a", "--controllers", "*,virtualmachine"}, `--namespaces: virtualmachine works in all namespaces; leave it out of --controllers`},
		{[]string{"run"}, `--kubeconfig`},
		{[]string{"run", "--kubeconfig", "/does/not/exist"}, `/does/not/exist does not exist`},
		{[]string{"run", "--metrics-port", "65536"}, `--metrics-port must be between 0 and 65535, not 65536`},
		{[]string{"run", "--bind-address", "everywhere"}, `--bind-address must be an IP address, not "everywhere"`},
		{[]string{"run", "--metrics-port", "0", "--profiling"}, `--profiling needs a --metrics-port`},
		{[]string{"rbac", "--service-account", "orrery"}, `--service-account must be a namespace and a name, such as kube-system/orrery, not "orrery"`},
		{[]string{"rbac", "--service-account", "a/b/c"}, `not "a/b/c"`},
		{[]string{"rbac", "--leader-elect-resource-name", ""}, `must not be empty`},
		{[]string{"rbac", "--user", "jane", "--service-account", "a/b"}, `give one of --user and --service-account`},
		{[]string{"rbac", "--user", ""}, `--user must not be empty`},
		{[]string{"rbac", "-o", "xml"}, `there is no output format "xml"; use yaml or json`},
		{[]string{"run", "--allow-second-controller", "yes"}, `unexpected argument "yes"`},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, stdout, stderr := orrery(t, test.args...)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, test.want)
			assert.True(t, strings.HasPrefix(stderr, "orrery: "), stderr)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
		})
	}
}

// writeKubeconfig writes a kubeconfig for a server and returns its path.
func writeKubeconfig(t *testing.T, server, user string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"k","cluster":{"server":"` + server + `"}}],
		"users":[{"name":"u","user":` + user + `}],
		"contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}]}`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func refusing(code int, reason api.StatusReason) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		status := api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: code, Reason: reason, Message: "said the server"}
		_ = json.NewEncoder(w).Encode(status)
	}
}

func TestServersThatCannotBeUsedGetOneClearSentence(t *testing.T) {
	// Without the system's authorities: reading these many files may take longer than a handshake.
	t.Setenv("SSL_CERT_FILE", os.DevNull)
	t.Setenv("SSL_CERT_DIR", t.TempDir())
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	listForbidden := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			_, _ = io.WriteString(w, `{"gitVersion":"v1.36.3"}`)
			return
		}
		refusing(403, api.ReasonForbidden)(w, r)
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		tls     bool
		url     string
		want    string
	}{
		{name: "no listener", url: closed.URL, want: "cannot be reached"},
		{name: "no such host", url: "http://orrery.invalid", want: "check the server address"},
		{name: "credentials", handler: refusing(401, api.ReasonUnauthorized), want: "does not accept these credentials"},
		{name: "rights", handler: listForbidden, want: "may not do that"},
		{name: "overloaded", handler: refusing(503, api.ReasonServiceUnavailable), want: "(after 5 attempts); the server rejects requests for now"},
		{name: "not an API server", handler: http.NotFound, want: "not a Kubernetes API server"},
		{name: "unknown authority", handler: http.NotFound, tls: true, want: "check certificate-authority in the kubeconfig"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url := test.url
			if test.handler != nil {
				server := httptest.NewUnstartedServer(test.handler)
				server.Config.ErrorLog = nil
				if test.tls {
					server.StartTLS()
				} else {
					server.Start()
				}
				defer server.Close()
				url = server.URL
			}
			code, _, stderr := orrery(t, "run", "--kubeconfig", writeKubeconfig(t, url, "{}"))
			assert.Equal(t, 1, code)
			last := lastLine(stderr)
			assert.True(t, strings.HasPrefix(last, "orrery: "), stderr)
			assert.Contains(t, last, test.want)
			assert.NotContains(t, stderr, "goroutine ")
		})
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// The token must not appear in any output of the program.
func TestSecretsAreNotPrinted(t *testing.T) {
	const canary = "canary-token-0123456789"
	for _, code := range []int{400, 401, 403, 404, 500, 503} {
		server := httptest.NewServer(refusing(code, ""))
		_, stdout, stderr := orrery(t, "run", "-v3", "--kubeconfig", writeKubeconfig(t, server.URL, `{"token":"`+canary+`"}`))
		server.Close()
		assert.NotContains(t, stdout+stderr, canary, "answer %d", code)
		assert.NotEmpty(t, stderr)
	}
}
