package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const pods = "/api/v1/namespaces/default/pods"

func TestPodsAreBoundLoggedAndEvicted(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
		p.must(201, "POST", pods, `{"metadata":{"name":"web"},"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}`)
		p.must(204, "GET", pods+"/web/log?container=b", "")
		p.must(201, "POST", pods+"/web/binding", `{"metadata":{"name":"web"},"target":{"kind":"Node","name":"n"}}`)
		assert.Contains(t, p.must(200, "GET", pods+"/web", "").body, `"nodeName":"n"`)
		p.must(422, "POST", pods+"/web/binding", `{"metadata":{"name":"web"},"target":{}}`)
		p.must(400, "POST", pods+"/web/binding", `{"metadata":{"name":"another"},"target":{"kind":"Node","name":"n"}}`)
		p.must(400, "POST", pods+"/web/binding", `{"target":{"kind":"Node","name":"n"}}`)
		p.must(400, "POST", pods+"/web/binding", `{"metadata":{"name":"web","namespace":"x"},"target":{"kind":"Node","name":"n"}}`)
		p.must(404, "POST", pods+"/none/binding", `{"metadata":{"name":"none"},"target":{"kind":"Node","name":"n"}}`)
		p.must(400, "POST", pods+"/web/binding", `[`)

		assert.Contains(t, p.must(200, "GET", pods+"/web/log?container=b", "").body, "container b")
		assert.Equal(t, "a container name must be specified for pod web, choose one of: [a b]", p.must(400, "GET", pods+"/web/log", "").message(t))
		assert.Equal(t, "container c is not valid for pod web", p.must(400, "GET", pods+"/web/log?container=c", "").message(t))
		p.must(404, "GET", pods+"/none/log", "")

		p.must(200, "DELETE", "/api/v1/nodes/n", "")
		p.must(404, "GET", pods+"/web/log?container=b", "")
		assert.Equal(t, "name in URL does not match name in Eviction object", p.must(400, "POST", pods+"/web/eviction", `{}`).message(t))
		p.must(422, "POST", pods+"/web/eviction", `{"metadata":{"name":"web"},"deleteOptions":{"propagationPolicy":"x"}}`)
		p.must(400, "POST", pods+"/web/eviction", `{"metadata":{"name":"web"},"deleteOptions":{"gracePeriodSeconds":"x"}}`)
		p.must(201, "POST", pods+"/web/eviction?dryRun=All", `{"metadata":{"name":"web"}}`)
		assert.NotContains(t, p.must(200, "GET", pods+"/web", "").body, "deletionTimestamp")
		assert.Contains(t, p.must(201, "POST", pods+"/web/eviction", `{"metadata":{"name":"web"},"deleteOptions":{"gracePeriodSeconds":0}}`).body, `"status":"Success"`)
		p.must(404, "GET", pods+"/web", "")
		p.must(404, "POST", pods+"/web/eviction", `{"metadata":{"name":"web"}}`)
	})
}

// Init containers have logs as well, and no container has run before.
func TestLogsOfEachContainer(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
		p.must(201, "POST", pods, `{"metadata":{"name":"web"},"spec":{"nodeName":"n",
			"initContainers":[{"name":"setup","image":"i"}],"containers":[{"name":"main","image":"i"}]}}`)
		for _, container := range []string{"setup", "main"} {
			log := p.must(200, "GET", pods+"/web/log?container="+container, "").body
			assert.Contains(t, log, "container "+container, "want the log of each container of the pod")
			refused := p.must(400, "GET", pods+"/web/log?previous=true&container="+container, "").message(t)
			assert.Equal(t, `previous terminated container "`+container+`" in pod "web" not found`, refused)
		}
		assert.Contains(t, p.must(200, "GET", pods+"/web/log", "").body, "container main", "an init container is not the default")
		refused := p.must(400, "GET", pods+"/web/log?previous=true", "").message(t)
		assert.Equal(t, `previous terminated container "main" in pod "web" not found`, refused)
		p.must(200, "GET", pods+"/web/log?previous=false", "")
		wrong := p.must(400, "GET", pods+"/web/log?previous=true&container=none", "").message(t)
		assert.Equal(t, "container none is not valid for pod web", wrong, "an unknown container is reported first")

		p.must(201, "POST", pods, `{"metadata":{"name":"two"},"spec":{"nodeName":"n","initContainers":[{"name":"setup","image":"i"}],
			"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}`)
		choice := "a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [setup]"
		assert.Equal(t, choice, p.must(400, "GET", pods+"/two/log", "").message(t))
	})
}

func TestScales(t *testing.T) {
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", deployments, `{"metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}}`)
		scale := deployments + "/web/scale"
		refusal := `Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`
		assert.Equal(t, refusal, p.must(422, "PATCH", scale, `{"spec":{"replicas":-1}}`, "Content-Type",
			mergePatch).message(t))
		assert.Equal(t, refusal, p.must(422, "PUT", scale, `{"metadata":{"name":"web"},"spec":{"replicas":-1}}`).message(t))
		p.must(415, "PATCH", scale, `{}`)
		p.must(400, "PATCH", scale, `{`, "Content-Type", "application/merge-patch+json")
		p.must(400, "PUT", scale, `{`)
		p.must(405, "DELETE", scale, "")
		p.must(406, "GET", scale, "", "Accept", "text/html")
	})
}

// events.k8s.io shows the events of the core group with other field names.
func TestEventsHaveTwoForms(t *testing.T) {
	const core, group = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", core, `{"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"default"},"message":"it happened","reason":"Tested","type":"Normal"}`)
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
