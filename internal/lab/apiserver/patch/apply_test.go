package patch_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/patch"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

var kinds = map[string]api.GroupVersionKind{
	"ConfigMap":  {Version: "v1", Kind: "ConfigMap"},
	"Service":    {Version: "v1", Kind: "Service"},
	"Pod":        {Version: "v1", Kind: "Pod"},
	"Deployment": {Group: "apps", Version: "v1", Kind: "Deployment"},
}

func typeOf(t testing.TB, kind string) *schema.Type {
	found, ok := schema.Builtin().Type(kinds[kind])
	require.True(t, ok, kind)
	return found
}

func decode(t testing.TB, text string) map[string]any {
	u := &api.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(text), u), text)
	return u.Object
}

func encode(t testing.TB, tree map[string]any) string {
	data, err := json.Marshal(tree)
	require.NoError(t, err)
	return string(data)
}

// TestAsKubeAPIServerPatches compares results and errors with those of kube-apiserver
// (upstream/apiserver/patchrecorder).
func TestAsKubeAPIServerPatches(t *testing.T) {
	file, err := os.Open("testdata/patches.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	results, refusals := 0, 0
	for lines.Scan() {
		var line struct {
			Kind           string
			Object, Result json.RawMessage
			Type           api.PatchType
			Patch          string
			Code           int
			Reason         api.StatusReason
			Message        string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		about := fmt.Sprintf("%s %s %s", line.Kind, line.Type, line.Patch)
		typ, object := typeOf(t, line.Kind), decode(t, string(line.Object))
		patched, err := patch.Apply(line.Type, object, []byte(line.Patch), typ)
		assert.JSONEq(t, string(line.Object), encode(t, object), "%s changed the document", about)
		if line.Code != 0 {
			refusals++
			if assert.Error(t, err, about) {
				assert.Equal(t, line.Message, withoutDocument(err.Error()), about)
				assert.Equal(t, line.Code, api.CodeOf(err), about)
				var refused *api.StatusError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, line.Reason, refused.Status.Reason, about)
			}
			continue
		}
		results++
		if assert.NoError(t, err, about) {
			typ.Prune(patched)
			assert.JSONEq(t, string(line.Result), encode(t, patched), about)
		}
	}
	require.NoError(t, lines.Err())
	assert.Greater(t, results, 35)
	assert.Greater(t, refusals, 50)
}

// withoutDocument removes the document from an error, as the recorder does, because it has times
// and versions.
func withoutDocument(message string) string {
	if _, tail, ok := strings.Cut(message, `}": `); ok && strings.HasPrefix(message, ` "" is invalid: patch`) {
		return "...: " + tail
	}
	return message
}

func TestRefuse(t *testing.T) {
	result := map[string]any{"a": int64(1)}
	assert.EqualError(t, patch.Refuse(api.MergePatchType, []byte(`{}`), result, "why"), ` "" is invalid: patch: Invalid value: "{\"a\":1}": why`)
	assert.EqualError(t, patch.Refuse(api.StrategicMergePatchType, []byte(`{"b":[1]}`), result, "why"), ` "" is invalid: patch: Invalid value: "map[b:[1]]": why`)
	assert.Equal(t, 422, api.CodeOf(patch.Refuse(api.StrategicMergePatchType, []byte(`x`), result, "why")))
}
