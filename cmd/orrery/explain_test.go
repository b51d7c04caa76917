package main

import (
	"encoding/json"
	"strings"
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

func TestARedirectIsNotTheAnswerOfAnAPIServer(t *testing.T) {
	redirect := &restclient.RedirectError{Verb: "GET", URL: "https://h/version", Code: 302, Host: "login.example.com"}
	assert.Contains(t, adviceFor(redirect), "not a Kubernetes API server")
}
