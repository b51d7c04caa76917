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

func TestCustomResourcesWithoutSchema(t *testing.T) {
	for _, custom := range []*schema.Type{schema.Custom(nil), schema.Custom(map[string]any{"x-kubernetes-preserve-unknown-fields": true}),
		schema.Custom(decode(t, `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object","properties":{"a":{}}}}}`))} {
		assert.Empty(t, mistake(custom, decode(t, `{"kind":"K","zed":{"a":[1]},"metadata":{"name":"x"}}`)))
		assert.Equal(t, `json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`, mistake(custom, decode(t, `{"metadata":{"name":5}}`)))
	}
}
