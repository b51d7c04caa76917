package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/rbac"
	"orrery/restclient"
	"orrery/restclient/api"
)

// The role system:controller:namespace-controller empties namespaces but may not write a Lease.
// With it, a run with --leader-elect, the default, never begins to work. The role that the
// message recommends must be enough.
func TestTheAdviceForAForbiddenRequestIsARoleThatIsEnough(t *testing.T) {
	forbidden := api.NewStatusError(api.Status{Status: api.StatusFailure, Code: 403, Reason: api.ReasonForbidden, Message: "no"})
	sentence := explain(&startError{doing: "listing namespaces", server: "https://k", err: forbidden})
	assert.Contains(t, sentence, "orrery rbac")
	assert.NotContains(t, sentence, "system:controller:")

	code, manifests, _ := orrery(t, "rbac")
	require.Zero(t, code)
	assert.Contains(t, manifests, "leases")
	leases := 0
	for _, right := range rbac.Rights(rbac.Config{LeaderElection: true, LeaseNamespace: "kube-system", LeaseName: "orrery"}) {
		if right.Rule.Resources[0] == "leases" {
			leases++
			assert.Contains(t, manifests, right.Rule.Verbs[0])
		}
	}
	assert.Equal(t, 2, leases)
}

// The advice continues the sentence of the error, which may end with a full stop.
func TestTheAdviceContinuesTheSentence(t *testing.T) {
	busy := api.NewStatusError(api.Status{Status: api.StatusFailure, Code: 429, Message: "Too many requests, please try again later."})
	assert.Equal(t, "listing namespaces at https://k failed: Too many requests, please try again later; "+
		"the server rejects requests for now: check \"kubectl get --raw /readyz?verbose\" and start again",
		explain(&startError{doing: "listing namespaces", server: "https://k", err: busy}))
}

// Every line of a JSON log is an object, including the last.
func TestTheLastLineOfAJSONLogIsAnObject(t *testing.T) {
	for _, args := range [][]string{
		{"--log-format", "json", "--kubeconfig", "/does/not/exist"},
		{"--log-format", "json", "--kube-api-burst", "0"},
		{"--log-format", "json", "--controllers", "*,-namespace"},
		{"--log-format", "json", "--nosuch"},
		{"--metrics-port", "many", "--log-format=json"},
		{"now", "--log-format", "text", "--log-format", "json"},
	} {
		code, _, stderr := orrery(t, append([]string{"run"}, args...)...)
		assert.Equal(t, 1, code)
		var line struct{ Level, Message, Error string }
		require.NoError(t, json.Unmarshal([]byte(stderr), &line), stderr)
		assert.Equal(t, "error", line.Level)
		assert.Equal(t, "the run has failed", line.Message)
		assert.NotEmpty(t, line.Error)
	}
}

func TestARedirectIsNotTheAnswerOfAnAPIServer(t *testing.T) {
	redirect := &restclient.RedirectError{Verb: "GET", URL: "https://h/version", Code: 302, Host: "login.example.com"}
	assert.Contains(t, adviceFor(redirect), "not a Kubernetes API server")
}
