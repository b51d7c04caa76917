package resources_test

import (
	"encoding/json"
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

func TestBodiesThatCannotBeRead(t *testing.T) {
	for name, row := range map[string]struct {
		body []byte
		is   string
	}{
		"nothing": {nil,
			"provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		"JSON": {[]byte("{}"),
			"provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		"an unknown kind": {body("v9", "Thing"), `no kind "Thing" is registered for version "v9"`},
		"compressed": {join([]byte("k8s\x00"), text(3, "gzip")),
			"content encoding inside the envelope is not supported"},
		"cut in the envelope": {body("v1", "Pod")[:7], "unexpected EOF"},
		"cut in the type":     {join([]byte("k8s\x00"), msg(1, []byte{0x0a})), "unexpected EOF"},
		"cut in the object":   {body("v1", "Pod", []byte{0x0a, 0x05}), "unexpected EOF"},
		"cut in a map":        {body("v1", "ConfigMap", msg(2, []byte{0x0a})), "unexpected EOF"},
		"cut in a time":       {body("v1", "Pod", msg(1, msg(8, []byte{0x08}))), "unexpected EOF"},
		"invalid embedded JSON": {body("v1", "Pod", msg(1, msg(17, msg(7, text(1, "{"))))),
			"unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := resources.DecodeProtobuf(row.body)
			assert.ErrorContains(t, err, row.is)
		})
	}
}

// A body is read as the JSON of the same object.
func TestBodiesAreReadLikeJSON(t *testing.T) {
	number := func(field protowire.Number, value uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), value)
	}
	port := func(target ...[]byte) []byte { return msg(1, number(3, 8), msg(4, target...), number(5, 0)) }
	probe := msg(10, msg(1, msg(2, text(1, "/live"))), number(2, 5))
	limits := msg(8, msg(1, text(1, "cpu"), msg(2, text(1, "100m"))))
	for want, sent := range map[string][]byte{
		`{"kind":"Service","apiVersion":"v1","spec":{"ports":[{"port":8,"targetPort":"web"},{"port":8,"targetPort":81}],
			"publishNotReadyAddresses":true}}`: body("v1", "Service", msg(2, port(number(1, 1), text(3, "web")),
			port(number(2, 81)), number(13, 1))),
		`{"kind":"Secret","apiVersion":"v1","data":{"k":"AQI="},"immutable":false}`: body("v1", "Secret",
			msg(2, text(1, "k"), text(2, "\x01\x02")), text(3, ""), number(5, 0)),
		`{"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"100m"}},
			"livenessProbe":{"httpGet":{"path":"/live"},"initialDelaySeconds":5}}]}}`: body("v1", "Pod",
			msg(2, msg(2, text(1, "c"), limits, probe))),
	} {
		object, err := resources.DecodeProtobuf(sent)
		require.NoError(t, err)
		got, err := json.Marshal(object)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(body("v1", "Pod", msg(1, text(1, "a"), msg(11, text(1, "k"), text(2, "v")))))
	f.Fuzz(func(t *testing.T, data []byte) {
		object, err := resources.DecodeProtobuf(data)
		if err == nil {
			assert.NotNil(t, object.Object)
		}
	})
}
