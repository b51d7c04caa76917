package resources

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// The ages that kube-apiserver showed in date columns of a custom resource.
func TestAgesAreWrittenAsRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/durations.json")
	require.NoError(t, err)
	var recorded []struct {
		Seconds int    `json:"seconds"`
		Text    string `json:"text"`
	}
	require.NoError(t, json.Unmarshal(data, &recorded))
	require.NotEmpty(t, recorded)
	now := time.Now().Truncate(time.Second)
	for _, r := range recorded {
		moment := now.Add(-time.Duration(r.Seconds) * time.Second).UTC().Format(time.RFC3339)
		later := now.Add(300 * time.Millisecond) // as in the recordings: timestamps have whole seconds, now does not
		assert.Equal(t, r.Text, ageOf(moment, later), "%d s", r.Seconds)
	}
	assert.Equal(t, "<unknown>", ageOf("", now))
	assert.Equal(t, "<invalid>", ageOf("soon", now))
	assert.Equal(t, "292y", ageOf("1600-01-01T00:00:00Z", now), "the longest duration that there is")
}

// The stored objects of a resource are found even if no version is served.
func TestAResourceThatIsNotServedIsStored(t *testing.T) {
	crd := &api.Unstructured{}
	require.NoError(t,
		crd.UnmarshalJSON([]byte(`{"metadata":{"name":"crontabs.stable.example.com"},"spec":{"group":"stable.example.com",
		"scope":"Namespaced","names":{"plural":"crontabs","kind":"CronTab"},"versions":[
		{"name":"v1alpha1","served":false,"storage":false},{"name":"v1","served":false,"storage":true}]}}`)))
	d, err := StoredAs(crd)
	require.NoError(t, err)
	assert.Equal(t, "v1", d.Version)
	assert.Equal(t, "crontabs.stable.example.com", d.Qualified())
	assert.True(t, d.Custom && d.Namespaced)
	assert.Equal(t, "/registry/stable.example.com/crontabs", d.Prefix)
	assert.Equal(t, d.Prefix, CustomPrefix(crd.GetName()))
	served, err := customDefinitions(crd)
	require.NoError(t, err)
	assert.Empty(t, served)

	crd.RemoveNested("spec", "versions")
	_, err = StoredAs(crd)
	assert.ErrorContains(t, err, "crontabs.stable.example.com has no storage version")
}

const jsonPathDocument = `{"a":{"b":[1,2,{"c":"d"}],"e.f":7,"g h":8},"list":[{"type":"Ready","status":"True","n":1,"ok":true},{"type":"Other","status":"False","n":2.5}],"null":null}`

func TestJSONPath(t *testing.T) {
	root := parse(t, jsonPathDocument).Object
	for text, want := range map[string]string{
		".a.b[-4]": `null`, ".a.b[-1].c": `["d"]`, ".a.b[7]": `null`, ".a['e.f']": `[7]`, `.a.e\.f`: `[7]`,
		`.a["g h"]`: `[8]`, ".a.*": `[[1,2,{"c":"d"}],7,8]`, ".a.b.c": `null`, ".null": `[null]`,
		".": "[" + jsonPathDocument + "]", `.list[?(@.n==1)].type`: `["Ready"]`,
		`.list[?(@.n==2.5)].type`: `["Other"]`, `.list[?(@.ok)].type`: `["Ready"]`,
		`.list[?(@.ok==true)].type`: `["Ready"]`, `.list[?(@.ok==false)].type`: `null`,
	} {
		path, err := parseJSONPath(text)
		require.NoError(t, err, text)
		assert.JSONEq(t, want, encoded(path.find(root)), text)
	}
	for _, text := range []string{"a", ".a[", ".a[x]", ".a[?(@.b", ".a[?(b)]", ".a[?(b==1)]", ".a{", ".a[?(@.b{==1)]"} {
		_, err := parseJSONPath(text)
		assert.Error(t, err, text)
	}
}

// The paths are those of real definitions.
func TestPathsOfColumns(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"cluster.x-k8s.io/cluster-name": "c"}},
		"spec":     map[string]any{"hosts": []any{"a", "b"}},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Other", "status": "False"},
		}},
	}
	for text, want := range map[string][]any{
		`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`: {"c"},
		`.metadata.labels.cluster\.x-k8s\.io/cluster-name`:    {"c"},
		`.status.conditions[?(@.type=="Ready")].status`:       {"True"},
		`.status.conditions[?(@.type=='Ready')].status`:       {"True"},
		`.spec.hosts[1]`:    {"b"},
		`.spec.hosts[-1:]`:  {"b"},
		`.spec.hosts[*]`:    {"a", "b"},
		`.spec['hosts'][0]`: {"a"},
		`.spec.missing`:     nil,
	} {
		path, err := parseJSONPath(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, path.find(object), text)
	}
}
