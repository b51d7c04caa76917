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

// mistakes returns what is wrong with an object; old may be nil.
func mistakes(t require.TestingT, schema string, object, old any) []FieldError {
	written, before := &api.Unstructured{}, &api.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(schema), written), schema)
	before.Object, _ = old.(map[string]any)
	return validateCustom(compiled(written.Object), &api.Unstructured{Object: object.(map[string]any)}, before)
}

// No schema makes the validation panic.
func TestSchemasOfTheWrongShape(t *testing.T) {
	for _, wrong := range []string{`"pattern":"("`, `"items":[1]`, `"minLength":"1"`, `"enum":5`} {
		assert.NotPanics(t, func() { mistakes(t, `{"type":"array",`+wrong+`}`, decode(t, `{"a":1}`), nil) }, wrong)
	}
}

// What the library finds in combinations has messages of our own; those about one value are
// kube-apiserver's, see the recorded conversations.
func TestWhatALibraryFindsInASchema(t *testing.T) {
	const needsP, needsQ = `{"required":["p"]}`, `{"required":["q"]}`
	for schema, wrong := range map[string]string{
		`"anyOf":[` + needsP + `,` + needsQ + `]`:                           `{}`,
		`"oneOf":[` + needsP + `,` + needsQ + `]`:                           `{"p":1,"q":1}`,
		`"allOf":[` + needsP + `,` + needsQ + `]`:                           `{"p":1}`,
		`"not":` + needsP:                                                   `{"p":1}`,
		`"properties":{"p":{"format":"int32"}}`:                             `{"p":3000000000}`,
		`"properties":{"p":{"format":"duration"}}`:                          `{"p":"soon"}`,
		`"properties":{"p":{"type":"string","enum":["a"]}}`:                 `{"p":"b"}`,
		`"properties":{"p":{"x-kubernetes-list-type":"set"}}`:               `{"p":["a","a"]}`,
		`"properties":{"p":{"allOf":[{"minimum":3}]}}`:                      `{"p":1}`,
		`"properties":{"p":{"items":{"properties":{"q":{"maxLength":1}}}}}`: `{"p":[{"q":"ab"}]}`,
	} {
		schema, object := `{"type":"object",`+schema+`}`, decode(t, wrong)
		assert.Len(t, mistakes(t, schema, object, nil), 1, schema)
		assert.Empty(t, mistakes(t, schema, object, clone(object)), "an unchanged object stays valid: %s", schema)
	}
	narrowed := mistakes(t, `{"allOf":[{"properties":{"p":{"minimum":3}}}]}`, decode(t, `{"p":1}`), nil)
	require.Len(t, narrowed, 1)
	assert.Equal(t, "p in body should be greater than or equal to 3", narrowed[0].Detail,
		"allOf: what is wrong in a part")
	unsupported := `{"properties":{"p":{"type":"string","format":"time"}}}`
	assert.Empty(t, mistakes(t, unsupported, decode(t, `{"p":"noon"}`), nil), "kube-apiserver ignores such a format")
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
		Custom(decode(t, schema).(map[string]any)).Prune(object)
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
	const schema = `{"type":"object","required":["a"],"properties":{
		"a":{"type":"string","maxLength":3,"default":"d"},"b":{"type":"array","x-kubernetes-list-type":"map",
		"x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"integer","default":1}}}},
		"c":{"type":"object","additionalProperties":{"type":"number","minimum":0},
		"anyOf":[{"required":["a"]},{"minProperties":2}]}}}`
	typ := Custom(decode(t, schema).(map[string]any))
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SampledFrom([]string{"a", "b", "c", "k"})
		object := rapid.MapOfN(keys, smallValue(2), 0, 4).Draw(t, "object")
		typ.FillIn(object)
		again := clone(object)
		typ.FillIn(again)
		require.Equal(t, any(object), again)
		require.Empty(t, mistakes(t, schema, object, clone(object)))
		for _, e := range mistakes(t, schema, object, nil) {
			require.NotEmpty(t, e.Field)
		}
	})
}
