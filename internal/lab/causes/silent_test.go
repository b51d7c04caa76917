package causes_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
)

// This page has what no condition of the namespace tells.

// The server asks a webhook whether the controller may remove its token, and finds no server.
func TestAWebhookBeforeTheToken(t *testing.T) {
	setUp := func(*causes.World) {}
	inWorld(t, causes.Fixture{}, setUp, 0, func(t *testing.T, c *clustertest.Cluster) {
		c.Must(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", `{"metadata":{"name":"guard"},"webhooks":[{
			"name":"guard.example.com","failurePolicy":"Fail","sideEffects":"None","admissionReviewVersions":["v1"],
			"clientConfig":{"service":{"namespace":"guard","name":"guard"}},
			"rules":[{"operations":["UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["namespaces/finalize"]}]}]}`)
		c.Fault("webhook-unreachable:webhook=guard.example.com,configuration=guard")
		c.Must(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
		c.Must(http.MethodDelete, "/api/v1/namespaces/shop", "")
		time.Sleep(causes.Settled)
		_, report := judged(t, c, collect.Options{})
		found := find(report, "C07")
		require.NotNil(t, found, text(t, report))
		assert.Equal(t, why.Possible, found.Certainty)
		assert.Equal(t, "guard", found.Culprit.Name)
		assert.Len(t, report.Findings, 1, text(t, report))
		assert.Equal(t, why.ExitUnknown, report.ExitCode)
	})
}

// A controller that writes the conditions of another namespace is not absent.
func TestAControllerElsewhere(t *testing.T) {
	setUp := func(w *causes.World) { causes.Waiting(w, "busy"); causes.Waiting(w, causes.Namespace) }
	inWorld(t, causes.Fixture{NoController: true}, setUp, 2*time.Minute, func(t *testing.T, c *clustertest.Cluster) {
		_, report := judged(t, c, collect.Options{})
		assert.Equal(t, why.Proven, find(report, "C19").Certainty, text(t, report))
		c.Must(http.MethodPatch, "/api/v1/namespaces/busy/status", `{"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True",
			"reason":"SomeResourcesRemain","message":"m","lastTransitionTime":"`+time.Now().UTC().Format(time.RFC3339)+`"}]}}`)
		_, report = judged(t, c, collect.Options{})
		found := find(report, "C19")
		assert.Equal(t, why.Possible, found.Certainty, text(t, report))
		require.Len(t, found.Missing, 1)
		assert.Contains(t, found.Missing[0], "it wrote the conditions of busy at ")
	})
}
