package schema_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"orrery/internal/lab/apiserver/schema"
)

// The functions below encode messages.

func text(number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

func num(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

func msg(number protowire.Number, fields ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), join(fields...))
}

func join(parts ...[]byte) []byte {
	var out []byte
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}

func body(apiVersion, kind string, fields ...[]byte) []byte {
	return join([]byte("k8s\x00"), msg(1, text(1, apiVersion), text(2, kind)), msg(2, fields...))
}

type tree = map[string]any

// The schemas in a CustomResourceDefinition have three union types.
func TestSchemas(t *testing.T) {
	definition := func(fields ...[]byte) []byte {
		return body("apiextensions.k8s.io/v1", "CustomResourceDefinition", msg(2, msg(7, text(1, "v1"), msg(4, msg(1, fields...)))))
	}
	double := protowire.AppendFixed64(protowire.AppendTag(nil, 9, protowire.Fixed64Type), math.Float64bits(1.5))
	got, err := schema.DecodeProtobuf(definition(double,
		msg(24, msg(1, text(5, "string"))), msg(30, num(1, 1)), msg(33, msg(2, text(5, "integer"))),
		msg(32, text(1, "a"), msg(2, text(2, "b"))), msg(8, text(1, "[1]")), msg(29, text(1, "p"), msg(2, text(5, "object"))),
	))
	require.NoError(t, err)
	versions := got.Tree["spec"].(tree)["versions"].([]any)
	assert.Equal(t, tree{
		"maximum": 1.5,
		"items":   tree{"type": "string"}, "additionalProperties": true, "additionalItems": tree{"type": "integer"},
		"dependencies": tree{"a": []any{"b"}}, "default": []any{int64(1)}, "properties": tree{"p": tree{"type": "object"}},
	}, versions[0].(tree)["schema"].(tree)["openAPIV3Schema"])
	got, err = schema.DecodeProtobuf(definition(msg(24, msg(2, text(5, "string")), msg(2, text(5, "integer")))))
	require.NoError(t, err)
	items := got.Tree["spec"].(tree)["versions"].([]any)[0].(tree)["schema"].(tree)["openAPIV3Schema"].(tree)["items"]
	assert.Len(t, items, 2)
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	deep := []byte{}
	for range 1100 {
		deep = msg(28, deep) // not: not: not: ...
	}
	for name, row := range map[string]struct {
		body []byte
		is   string
	}{
		"nothing":               {nil, "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		"JSON":                  {[]byte("{}"), "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		"an unknown kind":       {body("v9", "Thing"), `no kind "Thing" is registered for version "v9"`},
		"compressed":            {join([]byte("k8s\x00"), text(3, "gzip")), "content encoding inside the envelope is not supported"},
		"cut in the envelope":   {body("v1", "Pod")[:7], "unexpected EOF"},
		"cut in the type":       {join([]byte("k8s\x00"), msg(1, []byte{0x0a})), "unexpected EOF"},
		"cut in the object":     {body("v1", "Pod", []byte{0x0a, 0x05}), "unexpected EOF"},
		"cut in a map":          {body("v1", "ConfigMap", msg(2, []byte{0x0a})), "unexpected EOF"},
		"cut in a time":         {body("v1", "Pod", msg(1, msg(8, []byte{0x08}))), "unexpected EOF"},
		"invalid embedded JSON": {body("v1", "Pod", msg(1, msg(17, msg(7, text(1, "{"))))), "unexpected end of JSON input"},
		"too deep":              {body("apiextensions.k8s.io/v1", "CustomResourceDefinition", msg(2, msg(7, msg(4, msg(1, deep))))), "proto: exceeded max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.DecodeProtobuf(row.body)
			assert.ErrorContains(t, err, row.is)
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(body("v1", "Pod", msg(1, text(1, "a"), msg(11, text(1, "k"), text(2, "v")))))
	f.Add(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", msg(2, msg(7, msg(4, msg(1, msg(24, msg(2))))))))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, err := schema.DecodeProtobuf(data)
		if err == nil {
			assert.NotNil(t, object.Tree)
		}
	})
}

// Objects as they would be in JSON.
func TestObjects(t *testing.T) {
	for name, row := range map[string]struct {
		body []byte
		want tree
	}{
		"a namespace as kubectl sends it": {
			body("v1", "Namespace", msg(1, text(1, "a"), text(2, ""), text(3, ""), msg(8)), msg(2), msg(3, text(1, ""))),
			tree{"metadata": tree{"name": "a"}, "spec": tree{}, "status": tree{}},
		},
		"maps of strings and bytes": {
			body("v1", "Secret", msg(2, text(1, "k"), text(2, "\x00\xff")), msg(4, text(1, "s"), text(2, "v")), text(3, "Opaque")),
			tree{"data": tree{"k": "AP8="}, "stringData": tree{"s": "v"}, "type": "Opaque"},
		},
		"lists, numbers, and numbers that may be texts": {
			body("v1", "Service", msg(2,
				msg(1, text(1, "web"), text(2, "TCP"), num(3, 80), msg(4, num(1, 1), text(3, "http")), num(5, 0)),
				msg(1, num(3, 81), msg(4, num(1, 0), num(2, 8081))), text(4, "ClusterIP"))),
			tree{"spec": tree{"type": "ClusterIP", "ports": []any{
				tree{"name": "web", "protocol": "TCP", "port": int64(80), "targetPort": "http"},
				tree{"port": int64(81), "targetPort": int64(8081)},
			}}},
		},
		"embedded structs, quantities and pointers to zero": {
			body("v1", "Pod", msg(2, num(4, 0),
				msg(1, text(1, "v"), msg(2, msg(2, text(1, "Memory"), msg(2, text(1, "1Gi"))))))),
			tree{"spec": tree{"terminationGracePeriodSeconds": int64(0), "volumes": []any{
				tree{"name": "v", "emptyDir": tree{"medium": "Memory", "sizeLimit": "1Gi"}},
			}}},
		},
		"times": {
			body("coordination.k8s.io/v1", "Lease", msg(1, msg(8, num(1, 1000000000))), msg(2, msg(3, num(1, 1000000000), num(2, 5000)))),
			tree{"metadata": tree{"creationTimestamp": "2001-09-09T01:46:40Z"}, "spec": tree{"acquireTime": "2001-09-09T01:46:40.000005Z"}},
		},
		"negative numbers and booleans": {
			body("v1", "DeleteOptions", num(1, math.MaxUint64), num(3, 1), text(5, "All")),
			tree{"gracePeriodSeconds": int64(-1), "orphanDependents": true, "dryRun": []any{"All"}},
		},
		"embedded JSON and maps of lists": {
			body("authorization.k8s.io/v1", "SubjectAccessReview",
				msg(1, msg(17, text(1, "m"), text(6, "FieldsV1"), msg(7, text(1, `{"f:data":{"n":7}}`)))),
				msg(2, text(3, "joe"), msg(5, text(1, "k"), msg(2, text(1, "a"), text(1, "b"))))),
			tree{
				"metadata": tree{"managedFields": []any{tree{"manager": "m", "fieldsType": "FieldsV1", "fieldsV1": tree{"f:data": tree{"n": int64(7)}}}}},
				"spec":     tree{"user": "joe", "extra": tree{"k": []any{"a", "b"}}},
			},
		},
		"unknown fields": {
			body("v1", "ConfigMap", num(999, 7), msg(998), protowire.AppendFixed32(protowire.AppendTag(nil, 997, protowire.Fixed32Type), 1), msg(1, text(1, "a"))),
			tree{"metadata": tree{"name": "a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := schema.DecodeProtobuf(row.body)
			require.NoError(t, err)
			assert.Equal(t, row.want, got.Tree)
		})
	}
}
