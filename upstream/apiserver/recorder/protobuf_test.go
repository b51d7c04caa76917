package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
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
			for seed := range uint64(5) {
				filled := reflect.New(root.object)
				fill(filled.Elem(), rand.New(rand.NewPCG(seed, 1)), 0)
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

// deepest is the depth to which recursive structures are filled.
const deepest = 9

// fill sets every field.
func fill(v reflect.Value, r *rand.Rand, depth int) {
	if special, ok := values(r)[v.Type()]; ok {
		v.Set(special)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth < deepest {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), r, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if tag := v.Type().Field(i).Tag.Get("protobuf"); tag != "" && tag != "-" {
				fill(v.Field(i), r, depth+1)
			}
		}
	case reflect.Slice:
		if depth >= deepest {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(2), 2))
		for i := range v.Len() {
			fill(v.Index(i), r, depth+1)
		}
	case reflect.Map:
		if depth >= deepest {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, r, depth+1)
		fill(value, r, depth+1)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(string(rune('a' + r.IntN(26))))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(r.Int64N(2000) - 1000)
	case reflect.Uint8:
		v.SetUint(r.Uint64N(256))
	case reflect.Float64:
		v.SetFloat(0.5 + float64(r.IntN(9)))
	}
}

// values are those of types that cannot be filled field by field.
func values(r *rand.Rand) map[reflect.Type]reflect.Value {
	moment := time.Unix(1_000_000_000+r.Int64N(1e8), 1000*r.Int64N(1e6)).UTC()
	number := intstr.FromInt32(r.Int32N(100))
	if r.IntN(2) == 0 {
		number = intstr.FromString("50%")
	}
	return map[reflect.Type]reflect.Value{
		reflect.TypeFor[meta.Time]():            reflect.ValueOf(meta.NewTime(moment.Truncate(time.Second))),
		reflect.TypeFor[meta.MicroTime]():       reflect.ValueOf(meta.NewMicroTime(moment)),
		reflect.TypeFor[quantity.Quantity]():    reflect.ValueOf(quantity.MustParse("100m")),
		reflect.TypeFor[intstr.IntOrString]():   reflect.ValueOf(number),
		reflect.TypeFor[meta.FieldsV1]():        reflect.ValueOf(meta.FieldsV1{Raw: []byte(`{"f:a":{}}`)}),
		reflect.TypeFor[runtime.RawExtension](): reflect.ValueOf(runtime.RawExtension{Raw: []byte(`{"a":1}`)}),
	}
}
