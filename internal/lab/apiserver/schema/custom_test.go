package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/schema"
)

const crontab = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"list":{"type":"array","items":{"type":"object",
	"properties":{"x":{"type":"string"}}}},"m":{"type":"object","additionalProperties":{"type":"string"}},"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
	"free":{"type":"object","additionalProperties":true},"em":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"s":{"type":"object"}}},
	"ios":{"x-kubernetes-int-or-string":true}}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`

// The messages are those of kube-apiserver 1.36 for a definition with this schema.
func TestCustomResources(t *testing.T) {
	custom := schema.Custom(decode(t, crontab))
	assert.True(t, custom.Custom())
	for document, want := range map[string]string{
		`{"kind":"CronTab","apiVersion":"x/v1","metadata":{"name":"c"},"spec":{"a":"1","m":{"k":"v"},"any":{"b":[{"c":1}]},"free":{"x":1}},"status":{"anything":1}}`: ``,
		`{"zed":1}`: `strict decoding error: unknown field "zed"`,
		`{"spec":{"foo":1,"list":[{"y":1}],"m":{"a":"x"}}}`:                    `strict decoding error: unknown field "spec.foo", unknown field "spec.list[0].y"`,
		`{"metadata":{"name":"x","foo":1}}`:                                    `strict decoding error: unknown field "metadata.foo"`,
		`{"metadata":{"ownerReferences":[{"foo":1}]}}`:                         `strict decoding error: unknown field "metadata.ownerReferences[0].foo"`,
		`{"metadata":{"name":5}}`:                                              `json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`,
		`{"metadata":5}`:                                                       `json: cannot unmarshal number into Go value of type v1.ObjectMeta`,
		`{"metadata":{"labels":{"a":5}}}`:                                      `json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`,
		`{"metadata":{"labels":[]}}`:                                           `json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string`,
		`{"metadata":{"creationTimestamp":"z"}}`:                               `parsing time "z" as "2006-01-02T15:04:05Z07:00": cannot parse "z" as "2006"`,
		`{"spec":{"em":{"kind":"Pod","metadata":{"name":"x","bad":1},"t":1}}}`: `strict decoding error: unknown field "spec.em.metadata.bad", unknown field "spec.em.t"`,
		// Decoding does not compare values with the schema.
		`{"spec":{"list":[5],"a":{},"m":{"a":1}}}`: ``,
		`{"spec":5}`: ``,
	} {
		assert.Equal(t, want, mistake(custom, decode(t, document)), document)
	}
}

func TestCustomResourcesArePruned(t *testing.T) {
	custom := schema.Custom(decode(t, crontab))
	tree := decode(t, `{"zed":1,"metadata":{"name":"c","creationTimestamp":null,"foo":1},"spec":{"a":null,"b":1,"list":[{"x":"1","y":2},null],"any":{"z":1},"m":{"k":null}}}`)
	custom.Prune(tree)
	assert.Equal(t, decode(t, `{"metadata":{"name":"c"},"spec":{"a":null,"list":[{"x":"1"},null],"any":{"z":1},"m":{"k":null}}}`), tree)
}

func TestCustomResourcesWithoutSchema(t *testing.T) {
	for _, custom := range []*schema.Type{schema.Custom(nil), schema.Custom(map[string]any{"x-kubernetes-preserve-unknown-fields": true}),
		schema.Custom(decode(t, `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object","properties":{"a":{}}}}}`))} {
		assert.Empty(t, mistake(custom, decode(t, `{"kind":"K","zed":{"a":[1]},"metadata":{"name":"x"}}`)))
		assert.Equal(t, `json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`, mistake(custom, decode(t, `{"metadata":{"name":5}}`)))
	}
}
