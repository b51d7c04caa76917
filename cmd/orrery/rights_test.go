package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/rbac"
)

// A run without the right to delete began without a message and looked as if it worked.
func TestARunSaysWhichRightsItLacks(t *testing.T) {
	r := startReplica(t, builtIn(t, "forbid:verb=delete|deletecollection", "forbid:verb=create|patch,resource=events"),
		"--controllers=*,replicaset")
	r.await("controller started")
	r.stop()
	require.NoError(t, <-r.ended)
	said := r.stderr.String()
	assert.Equal(t, 1, strings.Count(said, "this user lacks rights"), said)
	assert.Contains(t, said, `missing="delete, deletecollection everything (namespace-controller, replicaset-controller); create, patch events (Events); `)
	assert.Contains(t, said, "WARN")

	r = startReplica(t, builtIn(t))
	r.await("controller started")
	r.stop()
	require.NoError(t, <-r.ended)
	assert.NotContains(t, r.stderr.String(), "lacks rights")
}

func TestRightsInASentence(t *testing.T) {
	for want, right := range map[string]rbac.Right{
		"get, watch namespaces (a, b)":       {Rule: rbac.Rule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "watch"}}, For: []string{"b", "a", "b"}},
		"update replicasets.apps/status (a)": {Rule: rbac.Rule{APIGroups: []string{"apps"}, Resources: []string{"replicasets/status"}, Verbs: []string{"update"}}, For: []string{"a"}},
		"get leases.coordination.k8s.io orrery in kube-system (leader election)": {
			Namespace: "kube-system", For: []string{"leader election"},
			Rule: rbac.Rule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"orrery"}, Verbs: []string{"get"}},
		},
	} {
		assert.Equal(t, want, inSentence(right))
	}
}

// A login page or a proxy answers every path. The message "connected" must not come before the
// program knows that it talks to an API server.
func TestOtherServersAreRefused(t *testing.T) {
	for name, answer := range map[string]string{"a page": "<html>Log in</html>", "another program": `{}`, "a list": `[1]`} {
		url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}))
		code, _, stderr := orrery(t, "run", "--kubeconfig", writeKubeconfig(t, url, "{}"))
		assert.Equal(t, 1, code, name)
		assert.NotContains(t, stderr, "connected", name)
		assert.Contains(t, lastLine(stderr), "the server that answers is not a Kubernetes API server", name)
	}
}
