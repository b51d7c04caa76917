package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const podsHere = "/api/v1/namespaces/default/pods"

// Subresources of a program that runs, or of a certificate that is issued, are announced and
// refused.
func TestPartsThatAreSimulated(t *testing.T) {
	const merge, requests = "application/merge-patch+json", "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", podsHere, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		p.must(201, "POST", requests, `{"metadata":{"name":"r"},
			"spec":{"request":"YQ==","signerName":"a.b/c","usages":["any"]}}`)
		exec := p.must(503, "POST", podsHere+"/a/exec?command=ls", "")
		assert.Equal(t, "pod a is simulated and has no exec", exec.message(t))
		parts := []string{podsHere + "/a/resize", podsHere + "/a/ephemeralcontainers", requests + "/r/approval"}
		for _, part := range parts {
			p.must(503, "PATCH", part, `{}`, "Content-Type", merge)
		}
		p.must(404, "POST", podsHere+"/b/exec?command=ls", "")
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
