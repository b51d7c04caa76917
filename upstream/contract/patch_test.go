package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// bases are documents with every kind of list: keyed, sets, replaced, and lists in lists.
var bases = []struct {
	gvk      api.GroupVersionKind
	original any
	document string
}{
	{api.GroupVersionKind{Version: "v1", Kind: "Pod"}, corev1.Pod{}, `{"metadata":{"name":"p","finalizers":["a/a","b/b","c/c"],"labels":{"a":"1","b":"2"},
		"ownerReferences":[{"uid":"u1","name":"x","kind":"K","apiVersion":"v1"},{"uid":"u2","name":"y","kind":"K","apiVersion":"v1"}]},
		"spec":{"containers":[{"name":"a","image":"i","args":["1","2"],"env":[{"name":"E","value":"1"},{"name":"F","valueFrom":{"fieldRef":{"fieldPath":"x"}}}],
		"ports":[{"containerPort":80,"name":"http"},{"containerPort":81,"protocol":"UDP"}],"volumeMounts":[{"mountPath":"/a","name":"v"}]},{"name":"b","image":"j"},{"name":"c","image":"k"}],
		"volumes":[{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"cm","items":[{"key":"k","path":"p"}]}}],
		"tolerations":[{"key":"t"}],"nodeSelector":{"x":"y"},"imagePullSecrets":[{"name":"s"}],"hostAliases":[{"ip":"1.1.1.1","hostnames":["h"]}]},
		"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}],"podIPs":[{"ip":"1.2.3.4"}]}}`},
	{api.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, appsv1.Deployment{}, `{"metadata":{"name":"d","annotations":{"a":"1"}},
		"spec":{"replicas":2,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"Exists"}]},
		"template":{"spec":{"containers":[{"name":"a","image":"i","resources":{"limits":{"cpu":"1"}}},{"name":"b","image":"j"}]}}}}`},
	{api.GroupVersionKind{Version: "v1", Kind: "Service"}, corev1.Service{}, `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80,"name":"a"},{"port":81,"name":"b"}],
		"clusterIPs":["1","2"],"externalIPs":["1.1.1.1"],"selector":{"a":"b"}}}`},
	{api.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, corev1.ConfigMap{}, `{"metadata":{"name":"c"},"data":{"a":"1","b":"2"}}`},
}

func read(t *testing.T, text string) map[string]any {
	u := &api.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(text), u))
	return u.Object
}

func write(t *testing.T, value any) string {
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return string(data)
}

// cuttings are values for patches: parts of the documents, by field name.
type cuttings map[string][]any

func (c cuttings) collect(value any, field string) {
	c[field] = append(c[field], value)
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			c.collect(inner, key)
		}
	case []any:
		for _, inner := range v {
			c.collect(inner, field+"[]")
		}
	}
}

// dice makes random patches for a document.
type dice struct {
	*rand.Rand
	known cuttings
}

func clone(value any) any {
	return (&api.Unstructured{Object: map[string]any{"": value}}).DeepCopy().Object[""]
}

func (d dice) of(list []any) any { return clone(list[d.IntN(len(list))]) }

// change returns a patch of the value of a field: it omits most parts, deletes some, and adds
// directives.
func (d dice) change(value any, field string) any {
	switch v := value.(type) {
	case map[string]any:
		patch := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch d.IntN(6) {
			case 0, 1:
				patch[key] = d.change(v[key], key)
			case 2:
				if d.IntN(3) == 0 {
					patch[key] = nil
				}
			}
		}
		d.direct(patch, v)
		return patch
	case []any:
		patch := []any{}
		for _, element := range v {
			if inner, ok := element.(map[string]any); ok && d.IntN(2) == 0 {
				patch = append(patch, d.element(inner, field))
			} else if !ok && d.IntN(3) == 0 {
				patch = append(patch, element)
			}
		}
		if d.IntN(3) == 0 && len(v) > 0 {
			patch = append(patch, d.other(v[0]))
		}
		if d.IntN(6) == 0 && len(v) > 0 {
			if _, ok := v[0].(map[string]any); ok {
				patch = append(patch, map[string]any{"$patch": "replace"})
			}
		}
		d.Shuffle(len(patch), func(i, j int) { patch[i], patch[j] = patch[j], patch[i] })
		return patch
	case string:
		return v + "x"
	}
	return value
}

var keys = []string{"name", "uid", "type", "ip", "port", "containerPort", "mountPath", "key"}

func (d dice) element(value map[string]any, field string) any {
	patch := d.change(value, field).(map[string]any)
	for _, key := range keys {
		if value[key] != nil && d.IntN(20) != 0 {
			patch[key] = value[key]
		}
	}
	if d.IntN(4) == 0 {
		patch["$patch"] = []string{"delete", "delete", "replace", "merge", "nonsense"}[d.IntN(5)]
	}
	return patch
}

func (d dice) other(like any) any {
	if v, ok := like.(map[string]any); ok {
		fresh := clone(v).(map[string]any)
		for _, key := range keys {
			if text, ok := fresh[key].(string); ok {
				fresh[key] = text + "new"
			}
		}
		if d.IntN(4) == 0 {
			fresh["gone"] = nil
		}
		return fresh
	}
	return fmt.Sprint(like, "new")
}

// direct adds directives to the patch of a map.
func (d dice) direct(patch, value map[string]any) {
	switch d.IntN(12) {
	case 0:
		patch["$patch"] = []string{"delete", "replace", "replace", "nonsense"}[d.IntN(4)]
	case 1:
		keep := []any{}
		for _, key := range slices.Sorted(maps.Keys(patch)) {
			if d.IntN(10) != 0 {
				keep = append(keep, key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if d.IntN(2) == 0 {
				keep = append(keep, key)
			}
		}
		patch["$retainKeys"] = keep
	case 2, 3, 4:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			list, ok := value[key].([]any)
			if !ok || len(list) == 0 {
				continue
			}
			if _, objects := list[0].(map[string]any); !objects && d.IntN(2) == 0 {
				patch["$deleteFromPrimitiveList/"+key] = []any{list[d.IntN(len(list))]}
			}
			if d.IntN(2) == 0 {
				patch["$setElementOrder/"+key] = d.order(list, patch[key])
			}
		}
	}
}

func (d dice) order(list []any, changes any) []any {
	order := []any{}
	all := slices.Clone(list)
	if more, ok := changes.([]any); ok {
		all = append(more, list...)
	}
	for _, element := range all {
		if d.IntN(8) == 0 {
			continue
		}
		if v, ok := element.(map[string]any); ok {
			if v["$patch"] != nil {
				continue
			}
			short := map[string]any{}
			for _, key := range keys {
				if v[key] != nil {
					short[key] = v[key]
				}
			}
			element = short
		}
		order = append(order, element)
	}
	if d.IntN(4) == 0 {
		d.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// TestStrategicMergeIsTheOriginals applies random patches with both implementations.
func TestStrategicMergeIsTheOriginals(t *testing.T) {
	applied, refused := 0, 0
	for seed := range uint64(20000) {
		base := bases[seed%uint64(len(bases))]
		d := dice{Rand: rand.New(rand.NewPCG(seed, 1))}
		document := read(t, base.document)
		if d.IntN(4) == 0 { // a document with missing parts
			document = d.sparse(document).(map[string]any)
		}
		change := write(t, d.change(read(t, base.document), ""))
		before := write(t, document)

		theirs, theirError := mergeOriginal(read(t, before), read(t, change), base.original)
		typ, ok := resources.Builtin().Type(base.gvk)
		require.True(t, ok)
		ours, ourError := resources.ApplyPatch(api.StrategicMergePatchType, document, []byte(change), typ)
		if theirError != nil {
			refused++
			if strings.HasPrefix(theirError.Error(), "panic") {
				continue
			}
			require.Error(t, ourError, "seed %d: %s\n  on %s\n  original: %v", seed, change, before, theirError)
			continue
		}
		if api.CodeOf(ourError) == 422 { // the merge is the same, but the result is not of the type
			continue
		}
		applied++
		require.NoError(t, ourError, "seed %d: %s\n  on %s\n  original: %s", seed, change, before, write(t, theirs))
		if result := write(t, full(ours)); write(t, full(theirs)) != result {
			// The patch changes a field in two ways at once, so the original's result is random.
			require.Contains(t, chances(t, before, change, base.original), result, "seed %d: %s\n  on %s", seed, change, before)
		}
		require.Equal(t, before, write(t, document), "the document was changed")
	}
	require.Greater(t, applied, 5000)
	require.Greater(t, refused, 1000)
	t.Logf("applied %d, refused %d", applied, refused)
}

// mergeOriginal calls apimachinery, which panics at some patches; kube-apiserver answers 500 to
// them.
func mergeOriginal(document, change map[string]any, like any) (result map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return strategicpatch.StrategicMergeMapPatch(document, change, like)
}

// chances returns the original's results of several attempts.
func chances(t *testing.T, before, change string, like any) []string {
	results := map[string]bool{}
	for range 30 {
		if theirs, err := mergeOriginal(read(t, before), read(t, change), like); err == nil {
			results[write(t, full(theirs))] = true
		}
	}
	return slices.Sorted(maps.Keys(results))
}

// full removes nulls, which both leave in some lists, and which mean nothing to the types.
func full(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil {
				delete(v, key)
			}
			full(inner)
		}
	case []any:
		for _, inner := range v {
			full(inner)
		}
	}
	return value
}

func (d dice) sparse(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if d.IntN(5) == 0 {
				delete(v, key)
			} else {
				v[key] = d.sparse(v[key])
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = d.sparse(inner)
		}
	}
	return value
}

// TestJSONPatchIsTheOriginals applies random operations with the library of kube-apiserver.
func TestJSONPatchIsTheOriginals(t *testing.T) {
	paths := []string{"/a", "/b", "/l/0", "/l/1", "/l/-", "/l/-1", "/l/9", "/l/x", "/m/k", "/m/z", "/m/d/e", "/l/2/y", "", "/", "a", "/m/~0~1", "/s/x", "/n", "/l", "/m",
		"/l/01", "/l/2", "/l/3", "/l/-4"}
	values := []string{`1`, `"t"`, `null`, `{}`, `[]`, `{"y":1}`, `[1,2]`, `1.0`, `true`, `{"k":null}`}
	for seed := range uint64(20000) {
		d := rand.New(rand.NewPCG(seed, 2))
		document := `{"a":1,"b":"t","l":[1,"t",{"y":null},[1]],"m":{"k":null,"d":{"e":[1,2]}},"s":"text","n":null}`
		var operations []map[string]any
		for range 1 + d.IntN(4) {
			o := map[string]any{"op": []string{"add", "remove", "replace", "test", "move", "copy"}[d.IntN(6)], "path": paths[d.IntN(len(paths))]}
			if o["op"] == "test" || d.IntN(10) != 0 {
				o["value"] = json.RawMessage(values[d.IntN(len(values))])
			}
			if d.IntN(10) != 0 {
				o["from"] = paths[d.IntN(len(paths))]
			}
			operations = append(operations, o)
		}
		change := write(t, operations)
		original, err := jsonpatch.DecodePatch([]byte(change))
		require.NoError(t, err)
		theirs, theirError := applyOriginal(original, document)
		ours, ourError := resources.ApplyPatch(api.JSONPatchType, read(t, document), []byte(change), nil)
		if theirError != nil || theirs[0] != '{' { // a list is not an object
			require.Error(t, ourError, "%s: original %v %s", change, theirError, theirs)
			continue
		}
		require.NoError(t, ourError, "%s: original %s", change, theirs)
		require.JSONEq(t, theirs, write(t, ours), change)
	}
}

func applyOriginal(p jsonpatch.Patch, document string) (result string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	data, err := p.Apply([]byte(document))
	return string(data), err
}

// TestQuantitiesAreTheOriginals parses random quantities with both implementations.
func TestQuantitiesAreTheOriginals(t *testing.T) {
	typ, ok := resources.Builtin().Type(api.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"})
	require.True(t, ok)
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E2", "e-3", "e+1", "e-12", "e", "x", "ki"}
	numbers := []string{"0", "1", "-1", "+5", "10", "100", "999", "1000", "1024", "1025", "1048576", "1500", "0.5", "1.5", ".5", "5.", "0.0001", "0.123456789123", "-0.25", "1000000", "007", "1.10", "123456789", "3.0000000001"}
	for seed := range uint64(5000) {
		d := rand.New(rand.NewPCG(seed, 3))
		number := numbers[d.IntN(len(numbers))]
		if d.IntN(3) == 0 {
			number = fmt.Sprint(d.Int64N(1 << uint(1+d.IntN(45))))
		}
		text := number + suffixes[d.IntN(len(suffixes))]
		document := map[string]any{"spec": map[string]any{"hard": map[string]any{string(corev1.ResourcePods): text}}}
		var theirs resource.Quantity
		err := theirs.UnmarshalJSON([]byte(strconv.Quote(text)))
		if err != nil {
			mistake := typ.Check(document).TypeError
			require.Error(t, mistake, "%q: %v", text, err)
			require.Equal(t, err.Error(), mistake.Error(), text)
			continue
		}
		require.NoError(t, typ.Check(document).TypeError, text)
	}
}
