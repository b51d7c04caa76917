package resources_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func catalogue(t testing.TB) []resources.Group {
	c := resources.NewCatalog()
	crd := decode(t, `{"metadata":{"name":"crontabs.stable.example.com"},"spec":{"group":"stable.example.com",
		"scope":"Namespaced","names":{"plural":"crontabs","kind":"CronTab"},"versions":[
		{"name":"v1","served":true,"schema":{"openAPIV3Schema":`+crontab+`}},{"name":"v2","served":true}]}}`)
	require.NoError(t, c.PutCustom(&api.Unstructured{Object: crd}))
	return c.Groups()
}

type document struct {
	OpenAPI    string
	Paths      map[string]map[string]any
	Components struct{ Schemas map[string]map[string]any }
}

func read(t *testing.T, data []byte) document {
	var d document
	require.NoError(t, json.Unmarshal(data, &d))
	return d
}

// checkReferences fails if a document has dangling references.
func checkReferences(t *testing.T, value any, prefix string, known map[string]map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		if reference, ok := v["$ref"].(string); ok {
			assert.Contains(t, known, strings.TrimPrefix(reference, prefix))
		}
		for _, inner := range v {
			checkReferences(t, inner, prefix, known)
		}
	case []any:
		for _, inner := range v {
			checkReferences(t, inner, prefix, known)
		}
	}
}

// Nothing in a user's schema may crash the server.
func TestStrangeSchemas(t *testing.T) {
	for _, text := range []string{`{"properties":5}`,
		`{"properties":{"a":5,"b":{"items":[1],"additionalProperties":true,"properties":[]}}}`, `{"type":5,"oneOf":{}}`,
		`{"type":"array","items":{}}`} {
		d := &resources.Definition{Group: "x.y", Version: "v1", Kind: "K", Plural: "ks", Custom: true,
			Verbs: []string{"get"}}
		d.Schema = decode(t, text)
		version := resources.GroupVersion{Version: "v1", Definitions: []*resources.Definition{d}}
		groups := []resources.Group{{Name: "x.y", Versions: []resources.GroupVersion{version}}}
		_, ok := resources.OpenAPIV3(groups, api.GroupVersion{Group: "x.y", Version: "v1"})
		assert.True(t, ok)
		resources.Custom(d.Schema).Check(map[string]any{"a": []any{map[string]any{}}})
	}
}

func TestOpenAPIV3(t *testing.T) {
	data, ok := resources.OpenAPIV3(catalogue(t), api.GroupVersion{Group: "apps", Version: "v1"})
	require.True(t, ok)
	d := read(t, data)
	assert.Equal(t, "3.0.0", d.OpenAPI)
	const deployments = "/apis/apps/v1/namespaces/{namespace}/deployments"
	assert.Contains(t, d.Paths, deployments)
	kind := map[string]any{"group": "apps", "version": "v1", "kind": "Deployment"}
	get := d.Paths[deployments]["get"].(map[string]any)
	assert.Equal(t, kind, get["x-kubernetes-group-version-kind"], "kubectl explain finds it here")
	patch := d.Paths[deployments+"/{name}"]["patch"].(map[string]any)
	assert.Equal(t, kind, patch["x-kubernetes-group-version-kind"])
	assert.Contains(t, patch["requestBody"].(map[string]any)["content"], "application/strategic-merge-patch+json")
	var parameters []string
	for _, p := range patch["parameters"].([]any) {
		parameters = append(parameters, p.(map[string]any)["name"].(string))
	}
	assert.Equal(t, []string{"dryRun", "fieldManager", "fieldValidation"}, parameters, "kubectl checks for them")
	spec := d.Components.Schemas["io.k8s.api.core.v1.PodSpec"]["properties"].(map[string]any)["containers"].(map[string]any)
	assert.Equal(t, "name", spec["x-kubernetes-patch-merge-key"])
	assert.NotEmpty(t, spec["description"])
	checkReferences(t, d.Paths, "#/components/schemas/", d.Components.Schemas)
	checkReferences(t, d.Components.Schemas, "#/components/schemas/", d.Components.Schemas)
	_, ok = resources.OpenAPIV3(catalogue(t), api.GroupVersion{Group: "authorization.k8s.io", Version: "v1"})
	assert.False(t, ok)
}

func TestOpenAPIV3OfCustomResources(t *testing.T) {
	data, ok := resources.OpenAPIV3(catalogue(t), api.GroupVersion{Group: "stable.example.com", Version: "v1"})
	require.True(t, ok)
	d := read(t, data)
	object := d.Components.Schemas["com.example.stable.v1.CronTab"]
	require.NotNil(t, object)
	assert.Contains(t, d.Components.Schemas, "com.example.stable.v1.CronTabList")
	assert.Equal(t, []any{map[string]any{"group": "stable.example.com", "version": "v1", "kind": "CronTab"}},
		object["x-kubernetes-group-version-kind"])
	properties := object["properties"].(map[string]any)
	assert.Contains(t, properties["spec"].(map[string]any)["properties"], "list")
	assert.Contains(t, properties, "metadata")
	patch := d.Paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]["patch"].(map[string]any)
	assert.NotContains(t, patch["requestBody"].(map[string]any)["content"], "application/strategic-merge-patch+json")
	checkReferences(t, d.Paths, "#/components/schemas/", d.Components.Schemas)
	data, ok = resources.OpenAPIV3(catalogue(t), api.GroupVersion{Group: "stable.example.com", Version: "v2"})
	require.True(t, ok)
	assert.Equal(t, "object", read(t, data).Components.Schemas["com.example.stable.v2.CronTab"]["type"],
		"without a schema")
}
