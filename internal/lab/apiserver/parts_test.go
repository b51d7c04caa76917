package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const podsHere = "/api/v1/namespaces/default/pods"

// Subresources that connect to a program are announced and refused. Those that write a part of a
// pod change nothing else.
func TestPartsOfAPod(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", podsHere, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		assert.Contains(t, p.must(503, "POST", podsHere+"/a/exec?command=ls", "").body, "nothing to connect to")
		p.must(404, "POST", podsHere+"/b/exec?command=ls", "")

		const merge = "application/merge-patch+json"
		got := p.must(200, "PATCH", podsHere+"/a/resize", `{"metadata":{"labels":{"x":"y"}},"spec":{"hostname":"h","containers":[{"name":"c","image":"other","resources":{"requests":{"cpu":"1"}}}]}}`, "Content-Type", merge)
		assert.Contains(t, got.body, `"requests":{"cpu":"1"}`)
		assert.Contains(t, got.body, `"image":"i"`)
		assert.NotContains(t, got.body, "hostname")
		got = p.must(200, "PATCH", podsHere+"/a/ephemeralcontainers", `{"spec":{"hostname":"h","ephemeralContainers":[{"name":"e","image":"debug"}]}}`, "Content-Type", merge)
		assert.Contains(t, got.body, `"image":"debug"`)
		assert.NotContains(t, got.body, "hostname")
	})
}

// POST to bindings has the name of the pod in the body.
func TestBindings(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", podsHere, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		p.must(201, "POST", "/api/v1/namespaces/default/bindings", `{"metadata":{"name":"a"},"target":{"kind":"Node","name":"n"}}`)
		assert.Contains(t, p.must(200, "GET", podsHere+"/a", "").body, `"nodeName":"n"`)
		p.must(405, "GET", "/api/v1/namespaces/default/bindings", "")
	})
}

// An autoscaler is the same object in both versions of its group.
func TestAutoscalersInBothVersions(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		const older, newer = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
		p.must(201, "POST", older, `{"metadata":{"name":"a"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3,"targetCPUUtilizationPercentage":50}}`)
		assert.Contains(t, p.must(200, "GET", newer+"/a", "").body, `"averageUtilization":50`)
		p.must(200, "PATCH", newer+"/a", `{"spec":{"maxReplicas":4}}`, "Content-Type", "application/merge-patch+json")
		got := p.must(200, "GET", older+"/a", "").body
		assert.Contains(t, got, `"targetCPUUtilizationPercentage":50`)
		assert.Contains(t, got, `"maxReplicas":4`)
	})
}
