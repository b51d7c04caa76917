package resources_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"orrery/internal/lab/apiserver/resources"
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
			_, err := resources.DecodeProtobuf(row.body)
			assert.ErrorContains(t, err, row.is)
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(body("v1", "Pod", msg(1, text(1, "a"), msg(11, text(1, "k"), text(2, "v")))))
	f.Add(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", msg(2, msg(7, msg(4, msg(1, msg(24, msg(2))))))))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, err := resources.DecodeProtobuf(data)
		if err == nil {
			assert.NotNil(t, object.Tree)
		}
	})
}

// Objects as they would be in JSON. upstream/apiserver/recorder compares every type.
func TestObjects(t *testing.T) {
	for name, row := range map[string]struct {
		body []byte
		want tree
	}{
		"a namespace as kubectl sends it": {
			body("v1", "Namespace", msg(1, text(1, "a"), text(2, ""), text(3, ""), msg(8)), msg(2), msg(3, text(1, ""))),
			tree{"metadata": tree{"name": "a"}, "spec": tree{}, "status": tree{}},
		},
		"numbers that may be texts": {
			body("v1", "Service", msg(2,
				msg(1, num(3, 80), msg(4, num(1, 1), text(3, "http"))), msg(1, num(3, 81), msg(4, num(2, 8081))))),
			tree{"spec": tree{"ports": []any{
				tree{"port": int64(80), "targetPort": "http"}, tree{"port": int64(81), "targetPort": int64(8081)},
			}}},
		},
		"times": {
			body("coordination.k8s.io/v1", "Lease",
				msg(1, msg(8, num(1, 1e9))), msg(2, msg(3, num(1, 1e9), num(2, 5000)))),
			tree{
				"metadata": tree{"creationTimestamp": "2001-09-09T01:46:40Z"},
				"spec":     tree{"acquireTime": "2001-09-09T01:46:40.000005Z"},
			},
		},
		"negative numbers and booleans": {
			body("v1", "DeleteOptions", num(1, math.MaxUint64), num(3, 1), text(5, "All")),
			tree{"gracePeriodSeconds": int64(-1), "orphanDependents": true, "dryRun": []any{"All"}},
		},
		"unknown fields": {
			body("v1", "ConfigMap", num(999, 7), msg(998), protowire.AppendFixed32(protowire.AppendTag(nil, 997, protowire.Fixed32Type), 1), msg(1, text(1, "a"))),
			tree{"metadata": tree{"name": "a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := resources.DecodeProtobuf(row.body)
			require.NoError(t, err)
			assert.Equal(t, row.want, got.Tree)
		})
	}
}
