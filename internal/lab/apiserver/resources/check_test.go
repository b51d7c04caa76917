package resources_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func typeOf(t testing.TB, apiVersion, kind string) *resources.Type {
	gv, err := api.ParseGroupVersion(apiVersion)
	require.NoError(t, err)
	found, ok := resources.Builtin().Type(api.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: kind})
	require.True(t, ok, "%s %s", apiVersion, kind)
	return found
}

func decode(t testing.TB, text string) map[string]any {
	u := &api.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(text), u), text)
	return u.Object
}

// mistake returns the error of strict decoding.
func mistake(t *resources.Type, tree map[string]any) string {
	findings := t.Check(tree)
	if findings.TypeError != nil {
		return findings.TypeError.Error()
	}
	if len(findings.Unknown) > 0 {
		return "strict decoding error: " + strings.Join(findings.Unknown, ", ")
	}
	return ""
}

// valueMistake matches kube-apiserver's message for a value that does not fit its field.
var valueMistake = regexp.MustCompile(`json: cannot unmarshal .* field .*?(\w+) of type`)

// assertMistake compares a message with that of kube-apiserver. For a value that does not fit ours
// has other words, and the same field.
func assertMistake(t *testing.T, want, got, about string) {
	t.Helper()
	if field := valueMistake.FindStringSubmatch(want); field != nil && strings.Contains(got, ": must be ") {
		assert.Regexp(t, `\b`+field[1]+`\b.*: must be `, got, about)
		return
	}
	assert.Equal(t, want, got, about)
}

// TestDocumentsAsKubeAPIServerSees compares every message with that of kube-apiserver
// (upstream/apiserver/recorder).
func TestDocumentsAsKubeAPIServerSees(t *testing.T) {
	file, err := os.Open("testdata/documents.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines, wrong := bufio.NewScanner(file), 0
	for lines.Scan() {
		var line struct {
			APIVersion, Kind, Mistake string
			Document                  json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		found := mistake(typeOf(t, line.APIVersion, line.Kind), decode(t, string(line.Document)))
		assertMistake(t, line.Mistake, found, fmt.Sprintf("%s %s", line.Kind, line.Document))
		if line.Mistake != "" {
			wrong++
		}
	}
	require.NoError(t, lines.Err())
	assert.Greater(t, wrong, 80)
}

func TestAValueThatDoesNotFitIsSaid(t *testing.T) {
	for document, want := range map[string]string{
		`{"spec":[]}`:                               "spec: must be an object, not a list",
		`{"spec":{"containers":{}}}`:                "spec.containers: must be a list, not an object",
		`{"spec":{"containers":[{},{"name":{}}]}}`:  "spec.containers[1].name: must be a string, not an object",
		`{"metadata":{"labels":{"a":5}}}`:           "metadata.labels.a: must be a string, not 5",
		`{"metadata":{"creationTimestamp":5}}`:      "metadata.creationTimestamp: must be a time, not 5",
		`{"spec":{"priority":1.5}}`:                 "spec.priority: must be an integer, not 1.5",
		`{"spec":{"priority":3000000000}}`:          "spec.priority: must be an integer, not 3000000000",
		`{"spec":{"activeDeadlineSeconds":"soon"}}`: `spec.activeDeadlineSeconds: must be an integer, not "soon"`,
		`{"spec":{"hostNetwork":"yes"}}`:            `spec.hostNetwork: must be true or false, not "yes"`,
	} {
		assert.Equal(t, want, mistake(typeOf(t, "v1", "Pod"), decode(t, document)), document)
	}
	for _, port := range []string{"true", "3000000000"} {
		service := decode(t, `{"spec":{"ports":[{"targetPort":`+port+`}]}}`)
		assert.Equal(t, "spec.ports[0].targetPort: must be an integer or a string, not "+port,
			mistake(typeOf(t, "v1", "Service"), service))
	}
	assert.Equal(t, "data.a: must be a string in base64, not 5",
		mistake(typeOf(t, "v1", "Secret"), decode(t, `{"data":{"a":5}}`)))
}

const crontab = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"list":{"type":"array","items":{"type":"object",
	"properties":{"x":{"type":"string"}}}},"m":{"type":"object","additionalProperties":{"type":"string"}},"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
	"free":{"type":"object","additionalProperties":true},"em":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"s":{"type":"object"}}},
	"ios":{"x-kubernetes-int-or-string":true}}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`

func TestCustomResourcesWithoutSchema(t *testing.T) {
	for _, custom := range []*resources.Type{resources.Custom(nil),
		resources.Custom(map[string]any{"x-kubernetes-preserve-unknown-fields": true}),
		resources.Custom(decode(t,
			`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object","properties":{"a":{}}}}}`))} {
		assert.Empty(t, mistake(custom, decode(t, `{"kind":"K","zed":{"a":[1]},"metadata":{"name":"x"}}`)))
		assert.Equal(t, `metadata.name: must be a string, not 5`,
			mistake(custom, decode(t, `{"metadata":{"name":5}}`)))
	}
}
