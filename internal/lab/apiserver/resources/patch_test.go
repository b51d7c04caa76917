package resources_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func encode(t testing.TB, tree map[string]any) string {
	data, err := json.Marshal(tree)
	require.NoError(t, err)
	return string(data)
}

// TestAsKubeAPIServerPatches compares results and errors with those of kube-apiserver
// (upstream/apiserver/recorder).
func TestAsKubeAPIServerPatches(t *testing.T) {
	file, err := os.Open("testdata/patches.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	struck := []string{ // in the recording 500
		`{"metadata":{"finalizers":["x.y/z",5]}}`,
	}
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
		version := map[string]string{"Deployment": "apps/v1"}[line.Kind]
		typ, object := typeOf(t, cmp.Or(version, "v1"), line.Kind), decode(t, string(line.Object))
		patched, err := resources.ApplyPatch(line.Type, object, []byte(line.Patch), typ)
		if slices.Contains(struck, line.Patch) && line.Type == api.StrategicMergePatchType {
			assert.Equal(t, 422, api.CodeOf(err), about)
			continue
		}
		assert.JSONEq(t, string(line.Object), encode(t, object), "%s changed the document", about)
		if line.Code != 0 {
			refusals++
			if assert.Error(t, err, about) {
				assertMistake(t, withoutDocument(line.Message), withoutDocument(err.Error()), about)
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
	assert.Greater(t, refusals, 45)
}

// shownDocument matches the document in an error, which has times and versions. kube-apiserver
// shows a strategic merge patch instead.
var shownDocument = regexp.MustCompile(`^ "" is invalid: patch: Invalid value: ".*?[}\]]": `)

func withoutDocument(message string) string { return shownDocument.ReplaceAllString(message, "...: ") }

func TestAPatchCannotDoubleADocumentRepeatedly(t *testing.T) {
	const twice = `{"op":"copy","from":"/l","path":"/l/-"}`
	patch := "[" + twice + strings.Repeat(","+twice, 60) + "]"
	document := map[string]any{"l": []any{"a"}}
	_, err := resources.ApplyPatch(api.JSONPatchType, document, []byte(patch), nil)
	assert.Equal(t, 422, api.CodeOf(err))
}

// As in kube-apiserver, the deletions of a list come first, whatever their places in the patch. A key
// that comes twice is one element.
func TestAPatchReplacesAnElement(t *testing.T) {
	pod := decode(t, `{"spec":{"containers":[{"name":"a","image":"x","tty":true},{"name":"b"}]}}`)
	patch := `{"spec":{"containers":[{"name":"a","image":"y"},{"$patch":"delete","name":"a"},` +
		`{"name":"a","tty":false}]}}`
	patched, err := resources.ApplyPatch(api.StrategicMergePatchType, pod, []byte(patch), typeOf(t, "v1", "Pod"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"spec":{"containers":[{"name":"a","image":"y","tty":false},{"name":"b"}]}}`, encode(t, patched),
		"one element a, deleted and made anew by the patch")
}

func TestUnknownNumbersSurvive(t *testing.T) {
	document := decode(t, `{"spec":{"big":123456789012345678901234567890,"whole":9007199254740993,"half":0.5}}`)
	patched, err := resources.ApplyPatch(api.MergePatchType, document, []byte(`{"spec":{"new":9007199254740993}}`), nil)
	require.NoError(t, err)
	data, err := json.Marshal(patched)
	require.NoError(t, err)
	assert.JSONEq(t,
		`{"spec":{"big":123456789012345678901234567890,"whole":9007199254740993,"half":0.5,"new":9007199254740993}}`,
		string(data))
	assert.Contains(t, string(data), "123456789012345678901234567890")
	assert.Contains(t, string(data), `"new":9007199254740993`)
}

// The validation of fields, not the merge, refuses a field that the type does not have.
func TestAStrategicMergePatchKeepsUnknownFields(t *testing.T) {
	patched, err := resources.ApplyPatch(api.StrategicMergePatchType, decode(t, `{"spec":{"hostNetwork":true}}`),
		[]byte(`{"spec":{"replicas":null,"replikas":{"a":1}}}`), typeOf(t, "v1", "Pod"))
	require.NoError(t, err)
	assert.Equal(t, decode(t, `{"spec":{"hostNetwork":true,"replikas":{"a":1}}}`), patched)
}

func TestServerSideApplyIsRefused(t *testing.T) {
	_, err := resources.ApplyPatch(api.ApplyPatchType, nil, []byte(`{}`), typeOf(t, "v1", "Pod"))
	assert.Equal(t, 415, api.CodeOf(err))
	assert.ErrorContains(t, err, "server-side apply is not supported by this server")
}
