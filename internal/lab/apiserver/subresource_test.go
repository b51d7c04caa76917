package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const pods = "/api/v1/namespaces/default/pods"

func TestPodsAreEvictedAndHaveLogs(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", pods,
			`{"metadata":{"name":"web"},"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}`)
		assert.Contains(t, p.must(200, "GET", pods+"/web/log", "").body, "container a")
		assert.Contains(t, p.must(200, "GET", pods+"/web/log?container=b", "").body, "container b")
		p.must(404, "GET", pods+"/none/log", "")
		p.must(405, "POST", "/api/v1/namespaces/default/bindings", `{"metadata":{"name":"web"}}`)
		p.must(201, "POST", pods+"/web/eviction?dryRun=All", `{"metadata":{"name":"web"}}`)
		assert.NotContains(t, p.must(200, "GET", pods+"/web", "").body, "deletionTimestamp")
		assert.Contains(t, p.must(201, "POST", pods+"/web/eviction",
			`{"metadata":{"name":"web"},"deleteOptions":{"gracePeriodSeconds":0}}`).body, `"status":"Success"`)
		p.must(404, "GET", pods+"/web", "")
	})
}

// events.k8s.io shows the events of the core group with other field names.
func TestEventsHaveTwoForms(t *testing.T) {
	const core, group = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", core,
			`{"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"default"},"message":"it happened","reason":"Tested","type":"Normal"}`)
		one := p.must(200, "GET", group+"/e", "").body
		assert.Contains(t, one, `"note":"it happened"`)
		assert.Contains(t, one, `"apiVersion":"events.k8s.io/v1"`)
		list := p.must(200, "GET", group, "").body
		assert.Contains(t, list, `"note":"it happened"`)
		assert.NotContains(t, list, `"kind":"Event"`)
		assert.Contains(t, p.must(200, "GET", core, "").body, `"message":"it happened"`)
		assert.Equal(t, "events.k8s.io/v1", p.watch(group+"?watch=1").want("ADDED", "e").Object.APIVersion)
	})
}
