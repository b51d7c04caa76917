package resources

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	var o api.Unstructured
	require.NoError(t, json.Unmarshal([]byte(`{"":`+text+`}`), &o), text)
	return o.Object[""]
}

func schemaOf(t testing.TB, text string) *Schema {
	t.Helper()
	return New(decode(t, text).(map[string]any))
}

func TestRulesAreFound(t *testing.T) {
	const rules = `"x-kubernetes-validations":[{"rule":"self.a"}]`
	for schema, want := range map[string]bool{
		`{"type":"object"}`:               false,
		`{"type":"object",` + rules + `}`: true,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object",` + rules + `}}}}`: true,
	} {
		assert.Equal(t, want, schemaOf(t, schema).HasRules(), schema)
	}
}

// No schema makes the validation panic.
func TestSchemasOfTheWrongShape(t *testing.T) {
	for _, wrong := range []string{`"pattern":"("`, `"items":[1]`, `"minLength":"1"`, `"enum":5`} {
		s := schemaOf(t, `{"type":"array",`+wrong+`}`)
		assert.NotPanics(t, func() { s.Validate(decode(t, `{"a":1}`), nil) }, wrong)
	}
}

// The messages of the library are our own; those about one value are kube-apiserver's, see the
// recorded conversations.
func TestWhatALibraryFindsInASchema(t *testing.T) {
	const needsP, needsQ = `{"required":["p"]}`, `{"required":["q"]}`
	for schema, wrong := range map[string]string{
		`"anyOf":[` + needsP + `,` + needsQ + `]`:           `{}`,
		`"oneOf":[` + needsP + `,` + needsQ + `]`:           `{"p":1,"q":1}`,
		`"allOf":[` + needsP + `,` + needsQ + `]`:           `{"p":1}`,
		`"not":` + needsP:                                   `{"p":1}`,
		`"properties":{"p":{"format":"int32"}}`:             `{"p":3000000000}`,
		`"properties":{"p":{"format":"duration"}}`:          `{"p":"soon"}`,
		`"properties":{"p":{"type":"string","enum":["a"]}}`: `{"p":"b"}`,
	} {
		s := schemaOf(t, `{"type":"object",`+schema+`}`)
		object := decode(t, wrong)
		assert.Len(t, s.Validate(object, nil), 1, schema)
		assert.Empty(t, s.Validate(object, clone(object)), "an unchanged object stays valid: %s", schema)
	}
	narrowed := schemaOf(t, `{"allOf":[{"properties":{"p":{"minimum":3}}}]}`).Validate(decode(t, `{"p":1}`), nil)
	require.Len(t, narrowed, 1)
	assert.Equal(t, "p in body should be greater than or equal to 3", narrowed[0].Detail, "allOf: what is wrong in a part")
	unsupported := schemaOf(t, `{"properties":{"p":{"type":"string","format":"time"}}}`)
	assert.Empty(t, unsupported.Validate(decode(t, `{"p":"noon"}`), nil), "kube-apiserver ignores such a format")
}

func TestUnknownFieldsAreKeptWhereTheSchemaAllowsThem(t *testing.T) {
	for schema, kept := range map[string]string{
		`{"type":"object"}`:                                      `{}`,
		`{"type":"object","additionalProperties":true}`:          `{"a":{"b":1}}`,
		`{"type":"object","additionalProperties":false}`:         `{}`,
		`{"type":"object","additionalProperties":{}}`:            `{"a":{"b":1}}`,
		`{"type":"object","properties":{"a":{"type":"object"}}}`: `{"a":{}}`,
	} {
		object := decode(t, `{"a":{"b":1}}`).(map[string]any)
		Custom(schemaOf(t, schema)).Prune(object)
		assert.Equal(t, decode(t, kept), any(object), schema)
	}
}

func smallValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 4+2*depth).Draw(t, "sort") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "truth")
		case 2:
			return rapid.Int64Range(-3, 12).Draw(t, "number")
		case 3:
			return rapid.SampledFrom([]float64{0.5, 1, -2.5}).Draw(t, "fraction")
		case 4:
			return rapid.SampledFrom([]string{"", "a", "abcdef", "Red"}).Draw(t, "text")
		case 5:
			return rapid.SliceOfN(smallValue(depth-1), 0, 3).Draw(t, "list")
		default:
			keys := rapid.SampledFrom([]string{"a", "b", "c", "k"})
			return rapid.MapOfN(keys, smallValue(depth-1), 0, 3).Draw(t, "object")
		}
	})
}

// Defaulting is idempotent, and an unchanged object passes the validation of an update.
func TestQuickObjects(t *testing.T) {
	s := schemaOf(t, `{"type":"object","required":["a"],"properties":{
		"a":{"type":"string","maxLength":3,"default":"d"},"b":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"integer","default":1}}}},
		"c":{"type":"object","additionalProperties":{"type":"number","minimum":0},"anyOf":[{"required":["a"]},{"minProperties":2}]}}}`)
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "k"}), smallValue(2), 0, 4).Draw(t, "object")
		s.FillIn(object)
		again := clone(object)
		s.FillIn(again)
		require.Equal(t, any(object), again)
		s.Lists("", object)
		require.Empty(t, s.Validate(object, clone(object)))
		for _, e := range s.Validate(object, nil) {
			require.NotEmpty(t, e.Field)
		}
	})
}
