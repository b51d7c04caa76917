package why_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page tests what the words of the condition ContentFailure prove.

// A group's own server refuses: that is no right that this user lacks in kube-apiserver.
func TestAnAggregatedServerThatRefusesByItself(t *testing.T) {
	aggregated := func(code int, message, content string) why.Evidence {
		things := typeOf("things.example.com", "things")
		things.Failed = &why.Failure{Request: "GET things", Code: code, Message: message,
			Right: "list things.things.example.com"}
		e := evidence(terminating(contentFailure, content), things, typeOf("", "configmaps"))
		e.APIServices = answered("GET apiservices", why.APIService{
			Name: "v1.things.example.com", GroupVersion: "things.example.com/v1", Available: "True", Service: &why.Service{Namespace: "ops", Name: "things"},
		})
		return e
	}
	const own = "tenant shop is suspended"
	for code, name := range map[int]string{403: "refuses", 503: "is overloaded", 504: "waits for another"} {
		report := why.Judge(aggregated(code, own, own))
		found := find(report, "C22")
		require.NotNil(t, found, name)
		assert.Equal(t, why.Proven, found.Certainty, found.Missing)
		assert.Equal(t, why.Reference{Resource: "apiservices.apiregistration.k8s.io", Name: "v1.things.example.com"},
			found.Culprit)
		assert.Contains(t, found.Says, "behind Service ops/things, refuses to list them itself")
		assert.Nil(t, find(report, "C30"), "%s: no right is missing", name)
	}
	assert.Equal(t, why.Possible, find(why.Judge(aggregated(403, own, "something else")), "C22").Certainty,
		"the controller was not refused so")
	const rbac = `things.things.example.com is forbidden: User "jane" cannot list resource "things" in API group "things.example.com" in the namespace "shop"`
	report := why.Judge(aggregated(403, rbac, ""))
	assert.Nil(t, find(report, "C22"))
	require.NotNil(t, find(report, "C30"), "kube-apiserver refuses this user")
}
