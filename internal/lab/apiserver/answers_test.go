package apiserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// A definition with rules is accepted with a warning, and an object that breaks a rule is accepted.
// No strategic merge patch is, as in kube-apiserver, and no path that begins with two slashes.
func TestRulesOfCustomResourcesAreIgnored(t *testing.T) {
	const definition = `{"metadata":{"name":"nests.example.com"},"spec":{"group":"example.com","scope":"Cluster",
		"names":{"plural":"nests","singular":"nest","kind":"Nest","listKind":"NestList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
			"properties":{"eggs":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 0"}]}}}}}]}}`
	bubble(t, func(t *testing.T, p *piped) {
		p.must(200, "GET", "/openapi/v3", "")
		defined := p.must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
		warning := `299 - "this server ignores the rules in x-kubernetes-validations"`
		assert.Equal(t, []string{warning}, defined.header["Warning"])
		nest := `{"apiVersion":"example.com/v1","kind":"Nest","metadata":{"name":"a"},"eggs":0}`
		assert.Empty(t, p.must(201, "POST", "/apis/example.com/v1/nests", nest).header["Warning"])
		assert.Contains(t, p.must(200, "GET", "/openapi/v3", "").body, "apis/example.com/v1", "the new type")
		p.must(415, "PATCH", "/apis/example.com/v1/nests/a", `{}`, "Content-Type",
			"application/strategic-merge-patch+json")
		p.must(404, "GET", "//apis/example.com/v1/nests/a", "")
	})
}

// A group whose server does not answer is announced as stale, whether or not it is known otherwise.
func TestAGroupThatDoesNotAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.fault("broken-group:group=apps,version=v1")
		p.fault("broken-group:group=metrics.k8s.io,version=v1beta1")
		p.fault("stale-discovery:group=batch,version=v1")
		for path, code := range map[string]int{
			"/apis/apps/v1": 503, "/apis/metrics.k8s.io/v1beta1": 503, "/apis/batch/v1": 200,
		} {
			assert.Equal(t, code, p.do("GET", path, "").code, path)
		}
		assert.Contains(t, p.groups(), `{"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Stale"}]}`)
		assert.Contains(t, p.groups(),
			`{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}`)
		assert.Equal(t, 3, strings.Count(p.groups(), `"freshness":"Stale"`))
		assert.Contains(t, p.must(200, "GET", "/apis", "").body, `"groupVersion":"metrics.k8s.io/v1beta1"`)
	})
}

const mergePatch = "application/merge-patch+json"

// kubectl create sends protobuf.
func TestProtobuf(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		object := func(kind, version string, raw []byte) string {
			head := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), version)
			head = protowire.AppendString(protowire.AppendTag(head, 2, protowire.BytesType), kind)
			body := protowire.AppendBytes(protowire.AppendTag([]byte("k8s\x00"), 1, protowire.BytesType), head)
			return string(protowire.AppendBytes(protowire.AppendTag(body, 2, protowire.BytesType), raw))
		}
		name := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "a")
		raw := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		send := func(code int, body string) answer {
			return p.must(code, "POST", configMaps, body, "Content-Type", "application/vnd.kubernetes.protobuf",
				"Accept", "application/vnd.kubernetes.protobuf,application/json")
		}
		assert.Contains(t, send(201, object("ConfigMap", "v1", raw)).body, `"name":"a"`)
		const aggregated = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		assert.Equal(t, aggregatedGroups,
			p.must(200, "GET", "/apis", "", "Accept", aggregated+","+aggregatedGroups).header.Get("Content-Type"))
		unknown := send(400, object("Unknown", "v1", raw)).message(t)
		assert.Contains(t, unknown, `no kind "Unknown" is registered for version "v1"`)
		assert.Contains(t, send(400, object("Pod", "v1", nil)).message(t), "the document is of v1 Pod")
		send(400, object("ConfigMap", "v1", []byte{0xff}))
		grace := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
		// A typed client sends them in the group version of its objects.
		p.must(200, "DELETE", configMaps+"/a", object("DeleteOptions", "apps/v1", grace), "Content-Type",
			"application/vnd.kubernetes.protobuf")
	})
}

// A body of unknown length may be empty: then the options are those of the query.
func TestAnEmptyBodyHasNoOptions(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		request, err := http.NewRequestWithContext(t.Context(), "DELETE",
			"http://apiserver.test"+configMaps+"/a?dryRun=All", io.MultiReader())
		require.NoError(t, err)
		request.ContentLength, request.TransferEncoding = -1, []string{"chunked"}
		response, err := p.client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode)
		p.must(200, "GET", configMaps+"/a", "")
	})
}

// managers returns "manager subresource fields" for each entry of managedFields.
func (a answer) managers(t *testing.T) (found []string) {
	t.Helper()
	var object struct {
		Metadata struct {
			ManagedFields []struct {
				Manager, Operation, APIVersion, FieldsType, Subresource string
				Time                                                    time.Time
				FieldsV1                                                json.RawMessage
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &object))
	for _, e := range object.Metadata.ManagedFields {
		assert.Equal(t, "Update FieldsV1", e.Operation+" "+e.FieldsType)
		assert.False(t, e.Time.IsZero())
		found = append(found, e.Manager+" "+e.APIVersion+" "+e.Subresource+" "+string(e.FieldsV1))
	}
	return found
}

// Every write leaves its author's name at the fields that it changed.
func TestManagedFields(t *testing.T) {
	const merge = "application/merge-patch+json"
	bubble(t, func(t *testing.T, p *piped) {
		created := p.must(201, "POST", configMaps,
			`{"metadata":{"name":"a","finalizers":["a.b/c"]},"data":{"k":"v","l":"w"}}`,
			"User-Agent", "kubectl/v1.36.3 (linux)")
		const finalizer = `"f:metadata":{"f:finalizers":{"v:\"a.b/c\"":{}}}`
		assert.Equal(t, []string{`kubectl v1  {"f:data":{"f:k":{},"f:l":{}},` + finalizer + `}`}, created.managers(t))
		time.Sleep(time.Second)
		patched := p.must(200, "PATCH", configMaps+"/a?fieldManager=robot", `{"data":{"k":"2","l":null}}`,
			"Content-Type", merge)
		two := []string{`kubectl v1  {` + finalizer + `}`, `robot v1  {"f:data":{"f:k":{}}}`}
		assert.Equal(t, two, patched.managers(t), "the changed field has a new owner, and the removed one has none")

		time.Sleep(time.Second)
		same := p.must(200, "PATCH", configMaps+"/a?fieldManager=robot", `{"data":{"k":"2"}}`, "Content-Type", merge)
		assert.Equal(t, patched.body, same.body,
			"a write that changes nothing leaves the times alone, and takes no version")
		put := p.must(200, "PUT", configMaps+"/a", `{"metadata":{"name":"a","finalizers":["a.b/c"]},"data":{"k":"2"}}`)
		assert.Equal(t, two, put.managers(t), "a client that does not know managedFields does not remove them")
		for _, name := range []string{"b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
			time.Sleep(time.Second)
			p.must(200, "PATCH", configMaps+"/a?fieldManager="+name, `{"data":{"`+name+`":"1"}}`, "Content-Type", merge)
		}
		found := p.must(200, "GET", configMaps+"/a", "").managers(t)
		require.Len(t, found, 10, "the oldest entries go")
		assert.Equal(t, `c v1  {"f:data":{"f:c":{}}}`, found[0])
	})
}

const pods = "/api/v1/namespaces/default/pods"

func TestPodsAreBound(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		const spec = `"containers":[{"name":"a","image":"i"}],"schedulerName":"mine"`
		p.must(201, "POST", pods, `{"metadata":{"name":"web"},"spec":{`+spec+`}}`)
		p.must(201, "POST", pods, `{"metadata":{"name":"gated"},"spec":{`+spec+`,"schedulingGates":[{"name":"a/b"}]}}`)
		bind := func(pod, node string, code int) string {
			t.Helper()
			return p.must(code, "POST", pods+"/"+pod+"/binding",
				`{"metadata":{"name":"`+pod+`"},"target":{"kind":"Node","name":"`+node+`"}}`).body
		}
		assert.Contains(t, bind("web", "", 422), "target.name: Required value", "a binding names a node")
		assert.Contains(t, bind("gated", "n", 409), "has non-empty .spec.schedulingGates",
			"a pod with gates is not assigned")
		p.must(201, "POST", pods+"/web/binding?dryRun=All", `{"target":{"name":"n"}}`)
		p.fault("webhook-denies:resource=pods/binding,count=1")
		bind("web", "n", 403)
		assert.NotContains(t, p.must(200, "GET", pods+"/web", "").body, `"nodeName"`, "one was dry, one was refused")
		bind("web", "n", 201)
		assert.Regexp(t, `"nodeName":"n".*"type":"PodScheduled"`, p.must(200, "GET", pods+"/web", "").body)
		assert.Contains(t, bind("web", "m", 409), `is already assigned to node \"n\"`, "a pod is assigned once")
		p.must(200, "DELETE", pods+"/web", "")
		assert.Contains(t, bind("web", "n", 409), "is being deleted, cannot be assigned to a host")
	})
}

func TestPodsAreEvicted(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", pods,
			`{"metadata":{"name":"web"},"spec":{"containers":[{"name":"a","image":"i"}]}}`)
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

// Python's client patches the scale of a Deployment so.
func TestAStrategicMergePatchOfAScale(t *testing.T) {
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", deployments, `{"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
		patched := p.must(200, "PATCH", deployments+"/web/scale", `{"spec":{"replicas":3}}`, "Content-Type",
			"application/strategic-merge-patch+json")
		assert.Contains(t, patched.body, `"spec":{"replicas":3}`)
	})
}

// What kubectl, curl and browsers send with their requests has an effect.
func TestOptionsOfClients(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		p.configMap("b")
		one := func(query string, headers ...string) string {
			return p.must(200, "GET", configMaps+"/a"+query, "", headers...).body
		}
		assert.NotContains(t, one(""), "\n  ")
		assert.Contains(t, one("?pretty=true"), "\n  ", "the query asks for an indented answer")
		assert.Contains(t, one("", "Accept", "application/json;pretty=1"), "\n  ", "the header does")
		assert.Contains(t, one("", "User-Agent", "curl/8"), "\n  ", "a person reads it")
		assert.NotContains(t, one("?pretty=false", "User-Agent", "curl/8"), "\n  ", "the query decides")
		table := p.must(200, "GET", configMaps+"?limit=1", "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		assert.Regexp(t, `"continue":"[^"]+"`, table.body, "a table has pages")
		assert.Equal(t, "no-cache, private", table.header.Get("Cache-Control"))
		assert.NotEmpty(t, table.header.Get("Audit-Id"))
		assert.Contains(t, p.must(200, "DELETE", configMaps+"/a", `{"orphanDependents":true}`).body,
			`"finalizers":["orphan"]`)
		assert.NotContains(t, p.must(200, "DELETE", configMaps+"/b?orphanDependents=false", "").body, "finalizers")
	})
}
