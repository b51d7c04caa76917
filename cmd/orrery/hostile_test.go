package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
)

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
	deleteNamespace(t, client, "shop", 1)
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
	for _, args := range [][]string{{"status"}, {"run"}, {"run", "--log-format", "json", "-v3"}, {"why", "shop"}} {
		_, stdout, stderr := orrery(t, append(args, "--kubeconfig", writeKubeconfig(t, refused, "{}"))...)
		safe(t, stdout+stderr)
		assert.Contains(t, stderr, "over", "%v: it is shown", args)
	}
}
