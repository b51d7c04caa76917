package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/restclient/api"
)

// A mistake, or a server that cannot be asked: one line on standard error, and nothing on standard
// output. The exit code 1 of "orrery status" has another meaning.
func TestMistakesGetOneClearSentence(t *testing.T) {
	nobody := writeKubeconfig(t, "http://127.0.0.1:"+strconv.Itoa(programtest.FreePort(t)), "{}")
	url := serve(t, forbidden)
	refused := writeKubeconfig(t, url, "{}")
	for _, test := range []struct{ line, want string }{
		{"rnu", `unknown command "rnu"; did you mean run? (see "orrery --help")`},
		{"demo", `unknown command "demo"`},
		{"help nosuch", `unknown command "nosuch"`},
		{"run now", `unexpected argument "now"`},
		{"run --nope", `unknown flag: --nope (see "orrery run --help")`},
		{"run --concurrent-namespace-syncs 0", `--concurrent-namespace-syncs must be at least 1`},
		{"run --concurrent-namespace-syncs many", `"many"`},
		{"run --concurrent-resource-types 0", `--concurrent-resource-types must be at least 1`},
		{"run --namespace-deletion-grace-period -1s", `must not be negative`},
		{"run --namespace-sync-period 0", `--namespace-sync-period must be positive`},
		{"run --shutdown-timeout 0", `--shutdown-timeout must be positive`},
		{"run --kube-api-qps 0", `--kube-api-qps must not be 0`},
		{"run --kube-api-qps nan", `--kube-api-qps takes a number, not NaN`},
		{"run --kube-api-qps -inf", `--kube-api-qps takes a number, not -Inf`},
		{"run --as-group devs", `--as-group needs --as`},
		{"run --kube-api-burst 0", `--kube-api-burst must be at least 1`},
		{"run -v=-1", `-v must not be negative`},
		{"run --watch-transport pigeon", `there is no watch transport "pigeon"; use http or websocket`},
		{"run --log-format xml", `there is no log format "xml"; use text or json`},
		{"run --leader-elect-resource-name ''", `--leader-elect-resource-name must not be empty`},
		{"run --leader-elect-resource-namespace ''", `--leader-elect-resource-namespace must not be empty`},
		{"run --leader-elect-retry-period 0", `must be positive`},
		{"run --leader-elect-lease-duration 10s", `(10s) must be longer than --leader-elect-renew-deadline (10s)`},
		{"run --leader-elect-retry-period 9s", `(10s) must be longer than 1.2 times --leader-elect-retry-period (9s)`},
		{"run --controllers foo", `there is no controller "foo"; use * or one of: deployment-controller, garbage-c`},
		{"run --controllers *,-namespace", `no controller is left to run`},
		{"run --namespaces team-*,Team", `"Team" matches no namespace: a pattern has lower-case letters, digits, "-",`},
		{"run --namespaces a,", `--namespaces: "" matches no namespace`},
		{"run --namespaces ''", `--namespaces: give at least one pattern; "*" selects all namespaces`},
		{"run --namespaces a --controllers *,replicaset", `replicaset-controller works in all namespaces; leave`},
		{"run --dry-run --controllers replicaset", `--dry-run: replicaset-controller does not support it`},
		{"run", `--kubeconfig`},
		{"run --kubeconfig /does/not/exist", `/does/not/exist: no such file or directory`},
		{"run --metrics-port=-1", `--metrics-port must be between 0 and 65535, not -1`},
		{"run --metrics-port 65536", `--metrics-port must be between 0 and 65535, not 65536`},
		{"run --bind-address everywhere", `--bind-address must be an IP address, not "everywhere"`},
		{"run --metrics-port 0 --profiling", `--profiling needs a --metrics-port`},
		{"rbac --service-account orrery", `must be a namespace and a name, such as kube-system/orrery, not "orrery"`},
		{"rbac --service-account a/b/c", `not "a/b/c"`},
		{"rbac --leader-elect-resource-name ''", `must not be empty`},
		{"rbac --user jane --service-account a/b", `give one of --user and --service-account`},
		{"rbac --user ''", `--user must not be empty`},
		{"rbac --without secrets", `--without and --group need --for why`},
		{"rbac --for why --group keda.sh", `--group needs --without secrets`},
		{"rbac --for what", `there is no command "what"; use run or why`},
		{"run --allow-second-controller yes", `unexpected argument "yes"`},
		{"status --as-group devs", "--as-group needs --as"},
		{"status --nope", "unknown flag: --nope"},
		{"status now", `unexpected argument "now"`},
		{"status --leader-elect-resource-name ''", "--leader-elect-resource-name must not be empty"},
		{"status --kubeconfig /does/not/exist", "/does/not/exist: no such file or directory"},
		{"status --kubeconfig " + refused, "reading the status at " + url},
		{"status --kubeconfig " + nobody, "check that the cluster is running"},
		{"status -o xml", `there is no output format "xml"; use text or json`},
		{"why", "give the name of a namespace"},
		{"why a b", `unexpected argument "b": give one namespace`},
		{"why Shop", `"Shop" is not the name of a namespace`},
		{"why --explain C99", `there is no cause "C99"; the causes are C01 C02`},
		{"why shop --explain C01", "give only one of a namespace, --from, which has its namespace, and --explain"},
		{"why shop --from a", "give only one of a namespace, --from"},
		{"why --explain C01 --from a", "give only one of a namespace, --from"},
		{"why -A shop", "--all-namespaces cannot be combined with a namespace, --explain, --from or --save"},
		{"why -A --explain C01", "--all-namespaces cannot be combined"},
		{"why -A --from a", "--all-namespaces cannot be combined"},
		{"why -A --save a", "--all-namespaces cannot be combined"},
		{"why -w --explain C01", "--watch prints lines only"},
		{"why -w --from a", "--watch prints lines only"},
		{"why shop -w --save a", "--watch prints lines only"},
		{"why shop -w --fix", "--watch prints lines only"},
		{"why shop -w -o json", "--watch prints lines only"},
		{"why --from a --save b", "--from and --save exclude each other"},
		{"why --from /does/not/exist", "the evidence cannot be read: open /does/not/exist"},
		{"why shop --interval 0s", "--interval must be positive, it is 0s; --no-wait takes"},
		{"why shop --timeout -1s", "--timeout must be positive"},
		{"why shop --max-requests -1", "--max-requests cannot be negative"},
		{"why shop --as-group devs", "--as-group needs --as"},
		{"why shop -o xml", `there is no output format "xml"`},
		{"why shop --kubeconfig /does/not/exist", "/does/not/exist: no such file or directory"},
		{"why shop --kubeconfig " + nobody, "cannot be reached"},
	} {
		t.Run(test.line, func(t *testing.T) {
			want := 1
			if strings.HasPrefix(test.line, "status") {
				want = 2
			}
			code, stdout, stderr := orrery(t, programtest.Words(test.line)...)
			assert.Equal(t, want, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, test.want)
			assert.True(t, strings.HasPrefix(stderr, "orrery: "), stderr)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
		})
	}
}

// With list but without watch, the controller would poll and flood its log. The message "connected"
// must not come before the program knows that it talks to an API server: a login page or a proxy
// answers every path.
func TestServersThatCannotBeUsedGetOneClearSentence(t *testing.T) {
	// Without the system's authorities: reading these many files may take longer than a handshake.
	t.Setenv("SSL_CERT_FILE", os.DevNull)
	t.Setenv("SSL_CERT_DIR", t.TempDir())
	listForbidden := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			_, _ = io.WriteString(w, `{"gitVersion":"v1.36.3"}`)
			return
		}
		forbidden(w, r)
	})
	noWatch := inMemory(t, func(w http.ResponseWriter, r *http.Request) bool {
		if isWatch(r) {
			forbidden(w, r)
		}
		return isWatch(r)
	})
	page := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		}
	}
	const (
		otherServer = "the server that answers is not a Kubernetes API server"
		overloaded  = `; the server rejects requests for now`
		mayNotWatch = "^orrery: watching namespaces at .*may not do that"

		unauthorized = "does not accept these credentials"
		noLogin      = "^orrery: the credentials for https://127.0.0.1:1 cannot be obtained: .*" +
			"check the user in the kubeconfig"
	)
	for name, test := range map[string]struct {
		url       string
		plugin    string // that logs in
		flags     []string
		connected bool
		want      string
	}{
		"no listener":       {url: "http://127.0.0.1:1", want: "cannot be reached"},
		"no such host":      {url: "http://orrery.invalid", want: "check the server address"},
		"credentials":       {url: serve(t, refusing(401, api.ReasonUnauthorized)), want: unauthorized},
		"rights":            {url: serve(t, listForbidden), want: "may not do that"},
		"overloaded":        {url: serve(t, refusing(503, api.ReasonServiceUnavailable)), want: overloaded},
		"not an API server": {url: serve(t, http.NotFoundHandler()), want: otherServer},
		"a page":            {url: serve(t, page("<html>Log in</html>")), want: otherServer},
		"another program":   {url: serve(t, page(`{}`)), want: otherServer},
		"a list":            {url: serve(t, page(`[1]`)), want: otherServer},
		"unknown authority": {url: serveTLS(t, http.NotFoundHandler()), want: "check certificate-authority"},
		"no watch":          {url: noWatch, connected: true, want: mayNotWatch},
		"no watch over websocket": {url: noWatch, flags: []string{"--watch-transport", "websocket"}, connected: true,
			want: mayNotWatch},
		"a login that fails": {url: "https://127.0.0.1:1", plugin: "false", want: noLogin},
	} {
		t.Run(name, func(t *testing.T) {
			user := "{}"
			if test.plugin != "" {
				user = login(test.plugin, "")
			}
			args := []string{"run", "--kubeconfig", writeKubeconfig(t, test.url, user)}
			code, _, stderr := orrery(t, append(args, test.flags...)...)
			assert.Equal(t, 1, code)
			last := lastLine(stderr)
			assert.True(t, strings.HasPrefix(last, "orrery: "), stderr)
			assert.Regexp(t, test.want, last)
			assert.NotContains(t, stderr, "goroutine ")
			assert.Equal(t, test.connected, strings.Contains(stderr, "connected"), stderr)
		})
	}
}

// The role system:controller:namespace-controller empties namespaces but may not write a Lease.
// With it, a run with --leader-elect, the default, never begins to work.
func TestTheAdviceForARefusedRequest(t *testing.T) {
	forbidden := api.NewStatusError(api.Status{Status: api.StatusFailure, Code: 403, Reason: api.ReasonForbidden,
		Message: "no"})
	sentence := explain(&startError{doing: "listing namespaces", server: "https://k", err: forbidden})
	assert.Contains(t, sentence, "orrery rbac")
	assert.NotContains(t, sentence, "system:controller:")
	busy := api.NewStatusError(api.Status{Status: api.StatusFailure, Code: 429,
		Message: "Too many requests, please try again later."})
	assert.Equal(t, "listing namespaces at https://k failed: Too many requests, please try again later; "+
		"the server rejects requests for now: check \"kubectl get --raw /readyz?verbose\" and start again",
		explain(&startError{doing: "listing namespaces", server: "https://k", err: busy}), "the full stop is left out")
}

// Every line of a JSON log is an object, including the last. A mistake on the command line has no
// log.
func TestTheLastLineOfAJSONLogIsAnObject(t *testing.T) {
	for _, args := range [][]string{
		{"--kubeconfig", "/does/not/exist"},
		{"--kubeconfig", writeKubeconfig(t, "http://127.0.0.1:1", "{}")},
	} {
		code, _, stderr := orrery(t, append([]string{"run", "--log-format", "json"}, args...)...)
		assert.Equal(t, 1, code)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		var last struct{ Level, Message, Error string }
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last), stderr)
		assert.Equal(t, "error", last.Level)
		assert.Equal(t, "the run has failed", last.Message)
		assert.NotEmpty(t, last.Error)
	}
	code, _, stderr := orrery(t, "run", "--log-format", "json", "--nosuch")
	assert.Equal(t, 1, code)
	assert.Equal(t, "orrery: unknown flag: --nosuch (see \"orrery run --help\")\n", stderr)
}

func TestHelp(t *testing.T) { programtest.TestHelp(t, newRootCommand) }

// The program accepts every command in the documentation.
func TestTheDocumentationsCommandsParse(t *testing.T) {
	found := programtest.TestDocumentation(t, newRootCommand, "../..")
	for file, least := range map[string]int{
		"README.md": 5, "running.md": 10, "observing.md": 5, "stuck-namespaces.md": 2,
	} {
		assert.GreaterOrEqual(t, found[file], least, file)
	}
}
