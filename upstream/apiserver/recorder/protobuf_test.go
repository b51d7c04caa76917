package main

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"orrery/internal/lab/apiserver/apiservertest"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// The file in the server's package is this program's output.
func TestTheFileIsUpToDate(t *testing.T) {
	want, err := os.ReadFile("../../../internal/lab/apiserver/resources/messages.txt")
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, writeMessages(&got))
	assert.Equal(t, string(want), got.String(),
		"go run ./apiserver/recorder protobuf")
}

// Objects of every kind with every field set are equal in both forms.
func TestBothFormsMeanTheSame(t *testing.T) {
	all, err := objectRoots()
	require.NoError(t, err)
	for _, root := range all {
		t.Run(root.groupVersion+" "+root.object.Name(), func(t *testing.T) {
			for seed := range int64(5) {
				filled := reflect.New(root.object)
				filler(seed).Fill(filled.Interface())
				compare(t, filled.Interface(), root.groupVersion, root.object.Name())
			}
		})
	}
}

func compare(t *testing.T, object any, apiVersion, kind string) {
	raw, err := object.(interface{ Marshal() ([]byte, error) }).Marshal()
	require.NoError(t, err)
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	body, err := envelope.Marshal()
	require.NoError(t, err)
	got, err := resources.DecodeProtobuf(append([]byte("k8s\x00"), body...))
	require.NoError(t, err)
	text, err := json.Marshal(object)
	require.NoError(t, err)
	var want api.Unstructured
	require.NoError(t, json.Unmarshal(text, &want))
	delete(got.Object, "kind")
	delete(got.Object, "apiVersion")
	assert.Equal(t, withoutNothing(want.Object), withoutNothing(got.Object))
}

// withoutNothing removes null, empty lists and empty maps, which the two forms treat differently.
func withoutNothing(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if kept := withoutNothing(inner); kept != nil {
				out[key] = kept
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, inner := range v {
			out = append(out, withoutNothing(inner))
		}
		if out == nil {
			return nil
		}
		return out
	}
	return value
}

// filler fills every field that travels in protobuf, recursive structures to some depth.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0).NumElements(1, 2).MaxDepth(18).Funcs(
		func(*meta.TypeMeta, randfill.Continue) {},
		func(v *meta.Time, c randfill.Continue) { v.Time = time.Unix(1_000_000_000+c.Int63n(1e8), 0).UTC() },
		func(v *meta.MicroTime, c randfill.Continue) { v.Time = time.UnixMicro(1e15 + c.Int63n(1e14)).UTC() },
		func(v *quantity.Quantity, _ randfill.Continue) { *v = quantity.MustParse("100m") },
		func(v *intstr.IntOrString, c randfill.Continue) {
			if *v = intstr.FromInt32(c.Int31n(100)); c.Bool() {
				*v = intstr.FromString("50%")
			}
		},
		func(v *meta.FieldsV1, _ randfill.Continue) { v.Raw = []byte(`{"f:a":{}}`) },
		func(v *runtime.RawExtension, _ randfill.Continue) { v.Raw = []byte(`{"a":1}`) },
		func(v *string, c randfill.Continue) { *v = string(rune('a' + c.Intn(26))) },
		func(v *bool, _ randfill.Continue) { *v = true },
		func(v *int32, c randfill.Continue) { *v = c.Int31n(2000) - 1000 },
		func(v *int64, c randfill.Continue) { *v = c.Int63n(2000) - 1000 },
		func(v *float64, c randfill.Continue) { *v = 0.5 + float64(c.Intn(9)) },
	)
}

// A fresh control plane gives the same answers, so no recording depends on chance, the date or
// earlier recordings.
func TestRecordingsCanBeRepeated(t *testing.T) {
	config := forConversations()
	config.Log = t.Output()
	s, err := start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	apiservertest.Run(t, func(*testing.T) apiservertest.Target { return s.target }, true)
}
