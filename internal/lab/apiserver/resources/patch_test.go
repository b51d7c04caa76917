package resources_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
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

func operations(one string, count int) []byte {
	return []byte("[" + strings.TrimSuffix(strings.Repeat(one+",", count), ",") + "]")
}

func TestTooManyOperations(t *testing.T) {
	test := `{"op":"test","path":"/a","value":1}`
	document := map[string]any{"a": int64(1)}
	_, err := resources.ApplyPatch(api.JSONPatchType, document, operations(test, resources.MaxOperations), nil)
	assert.NoError(t, err)
	_, err = resources.ApplyPatch(api.JSONPatchType, document, operations(test, resources.MaxOperations+1), nil)
	assert.Equal(t, 413, api.CodeOf(err))
	assert.EqualError(t, err, "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001")
}

// Without limits each of these would take minutes or unbounded memory.
func TestExpensivePatchesAreRefused(t *testing.T) {
	long := make([]any, 20_000)
	for i := range long {
		long[i] = int64(i)
	}
	wide := map[string]any{"l": long, "s": strings.Repeat("x", 1<<20)}
	for name, test := range map[string]struct {
		kind  api.PatchType
		patch []byte
		code  int
	}{
		"doubling":     {api.JSONPatchType, operations(`{"op":"copy","from":"/l","path":"/l/-"}`, 60), 422},
		"copies":       {api.JSONPatchType, operations(`{"op":"copy","from":"/s","path":"/t"}`, 5), 422},
		"comparisons":  {api.JSONPatchType, []byte(`[{"op":"copy","from":"/l","path":"/m"},` + string(operations(`{"op":"copy","from":"/l","path":"/m"}`, 9_000)[1:])), 422},
		"deep paths":   {api.JSONPatchType, []byte(`[{"op":"add","path":"` + strings.Repeat("/a", 20_000) + `","value":1}]`), 422},
		"nothing":      {api.JSONPatchType, []byte(`[{"op":"replace","path":"","value":null}]`), 422},
		"too deep":     {api.MergePatchType, []byte(strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001)), 400},
		"large result": {api.MergePatchType, []byte(`{"t":"` + strings.Repeat("x", 2<<20) + `"}`), 413},
	} {
		_, err := resources.ApplyPatch(test.kind, wide, test.patch, nil)
		assert.Equal(t, test.code, api.CodeOf(err), name)
	}
	assert.Len(t, wide["l"], 20_000)
}

// Merging lists takes linear time.
func TestLongListsAreMergedQuickly(t *testing.T) {
	var names, env []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf(`"x.y/f%d"`, i))
		env = append(env, fmt.Sprintf(`{"name":"E%d","value":"1"}`, i))
	}
	document := decode(t, `{"metadata":{"finalizers":[`+strings.Join(names, ",")+`]},"spec":{"containers":[{"name":"c","env":[`+strings.Join(env, ",")+`]}]}}`)
	change := `{"metadata":{"$setElementOrder/finalizers":[` + strings.Join(names, ",") + `],"finalizers":[` + strings.Join(names, ",") + `]},
		"spec":{"containers":[{"name":"c","env":[` + strings.Join(env, ",") + `]}]}}`
	patched, err := resources.ApplyPatch(api.StrategicMergePatchType, document, []byte(change), typeOf(t, "v1", "Pod"))
	require.NoError(t, err)
	assert.Equal(t, document, patched)
}

func TestUnknownNumbersSurvive(t *testing.T) {
	document := decode(t, `{"spec":{"big":123456789012345678901234567890,"whole":9007199254740993,"half":0.5}}`)
	patched, err := resources.ApplyPatch(api.MergePatchType, document, []byte(`{"spec":{"new":9007199254740993}}`), nil)
	require.NoError(t, err)
	data, err := json.Marshal(patched)
	require.NoError(t, err)
	assert.JSONEq(t, `{"spec":{"big":123456789012345678901234567890,"whole":9007199254740993,"half":0.5,"new":9007199254740993}}`, string(data))
	assert.Contains(t, string(data), "123456789012345678901234567890")
	assert.Contains(t, string(data), `"new":9007199254740993`)
}

func TestServerSideApplyIsRefused(t *testing.T) {
	_, err := resources.ApplyPatch(api.ApplyPatchType, nil, []byte(`{}`), typeOf(t, "v1", "Pod"))
	assert.Equal(t, 415, api.CodeOf(err))
	assert.ErrorContains(t, err, "server-side apply is not supported by this server")
}
