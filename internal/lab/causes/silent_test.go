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
		found := mustFind(t, report, "C07", why.Possible)
		assert.Equal(t, "guard", found.Culprit.Name)
		assert.Len(t, report.Findings, 1, text(t, report))
		assert.Equal(t, why.ExitUnknown, report.ExitCode)
	})
}
