package structural

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/apierrors"
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

func sentences(wrong []apierrors.FieldError) []string {
	all := []string{}
	for _, e := range wrong {
		all = append(all, e.Error())
	}
	return all
}

// The messages are those of kube-apiserver. The script schemas of package apiservertest has many
// more.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		schema, value string
		want          []string
	}{
		{`{"type":"string"}`, `null`, []string{`spec: Invalid value: "null": spec in body must be of type string: "null"`}},
		{`{"type":"string","nullable":true}`, `null`, nil},
		{`{"type":"string","enum":["a"]}`, `null`, []string{`spec: Invalid value: "null": spec in body must be of type string: "null"`, `spec: Unsupported value: null: supported values: "a"`}},
		{`{"type":"integer","enum":[1,2.5]}`, `1`, nil},
		{`{"type":"number","enum":[1.0]}`, `1`, nil},
		{`{"type":"string","format":"date"}`, `1`, []string{`spec: Invalid value: "int64": spec in body must be of type date: "int64"`}},
		{`{"type":"string","format":"date"}`, `[]`, nil}, // as in kube-apiserver
		{`{"type":"integer","format":"int32"}`, `2147483648`, []string{`<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec`}},
		{`{"type":"integer"}`, `2.0`, nil},
		{`{"type":"integer"}`, `1e300`, []string{`spec: Invalid value: "number": spec in body must be of type integer: "number"`}},
		{`{"type":"number","maximum":5}`, `123456789012345678901234567890`, []string{`spec: Invalid value: 1.2345678901234568e+29: spec in body should be less than or equal to 5`}},
		{`{"type":"number","multipleOf":0.1}`, `0.3`, nil},
		{`{"type":"number","multipleOf":0}`, `0.3`, []string{`spec: Invalid value: 0: factor MultipleOf declared for spec must be positive: 0`}},
		{`{"type":"number","maximum":1,"exclusiveMaximum":true}`, `1.0`, []string{`spec: Invalid value: 1: spec in body should be less than 1`}},
		{`{"type":"number","minimum":1,"exclusiveMinimum":true}`, `1.0`, []string{`spec: Invalid value: 1: spec in body should be greater than 1`}},
		{`{"type":"string","minLength":3,"maxLength":3}`, `"äöü"`, nil}, // characters, not bytes
		{`{"type":"string","pattern":"("}`, `"a"`, []string{`spec: Invalid value: "a": spec in body should match '('`}},
		{`{"type":"array","items":{"type":"boolean"},"maxItems":1}`, `[true,1]`, []string{
			`spec[1]: Invalid value: "integer": spec[1] in body must be of type boolean: "integer"`, `spec: Too many: 2: must have at most 1 items`}},
		{`{"type":"object","required":["a"],"maxProperties":1,"properties":{"b":{"type":"string"}}}`, `{"b":1,"c":1}`, []string{
			`spec: Too many: 2: must have at most 1 items`, `spec.b: Invalid value: "integer": spec.b in body must be of type string: "integer"`, `spec.a: Required value`}},
		{`{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"x"`, nil},
		{`{"type":"object","allOf":[{"required":["a"]}]}`, `{}`, []string{`spec.a: Required value`, `<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated`}},
		{`{"type":"object","properties":{"a":{"type":"integer"}},"anyOf":[{"required":["b"]},{"required":["a"],"properties":{"a":{"minimum":5}}}]}`, `{"a":1}`, []string{
			`<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)`, `spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 5`}},
		{`{"x-kubernetes-preserve-unknown-fields":true}`, `{"a":[1]}`, nil},
	} {
		whole := schemaOf(t, `{"type":"object","properties":{"spec":`+c.schema+`}}`)
		want := c.want
		if want == nil {
			want = []string{}
		}
		assert.Equal(t, want, sentences(whole.Validate("", map[string]any{"spec": decode(t, c.value)}, nil)), "%s %s", c.schema, c.value)
	}
	assert.Empty(t, (*Schema)(nil).Validate("", 1, nil))
	assert.Equal(t, []string{`status.a: Required value`}, sentences(schemaOf(t, `{"properties":{"status":{"type":"object","required":["a"]}}}`).StatusSchema().Validate("status", map[string]any{}, nil)))
}

func TestFormats(t *testing.T) {
	for format, texts := range map[string][2]string{
		"uri": {"https://a/b", "a b"}, "email": {"a@b", "a"}, "hostname": {"a-1.b", strings.Repeat("a", 64)},
		"ipv4": {"1.2.3.4", "::1"}, "ipv6": {"::1", "1.2.3.4"}, "cidr": {"1.2.3.0/24", "1.2.3.4"},
		"mac": {"01:23:45:67:89:ab", "01"}, "uuid": {"0123456789ab0def0123456789abcdef", "x"}, "byte": {"YQ==", "Y"},
		"date": {"2026-02-28", "2026-02-30"}, "date-time": {"2026-02-28T10:00:00Z", "2026-02-28 10:00:00"},
		"duration": {"3 weeks", "3 moons"}, "k8s-short-name": {"a-b", "a.b"}, "k8s-long-name": {"a.b", "a_b"},
	} {
		s := schemaOf(t, `{"type":"string","format":"`+format+`"}`)
		assert.Empty(t, s.Validate("f", texts[0], nil), "%s %s", format, texts[0])
		assert.Len(t, s.Validate("f", texts[1], nil), 1, "%s %s", format, texts[1])
	}
	assert.Empty(t, schemaOf(t, `{"type":"string","format":"password"}`).Validate("", "x", nil))
	unknown := decode(t, `{"type":"object","format":"x","properties":{"a":{"type":"string","format":"y"},"b":{"type":"number","format":"double"},"c":{"type":"integer","format":"z"}}}`)
	assert.Equal(t, []string{"x", "y", "z"}, UnknownFormats(unknown.(map[string]any)))
}

func TestRulesAreFound(t *testing.T) {
	const rules = `"x-kubernetes-validations":[{"rule":"self.a"}]`
	for schema, want := range map[string]bool{
		`{"type":"object"}`:               false,
		`{"type":"object",` + rules + `}`: true,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object",` + rules + `}}}}`: true,
	} {
		assert.Equal(t, want, HasRules(decode(t, schema).(map[string]any)), schema)
	}
}

func anyValue(depth int) *rapid.Generator[any] {
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
			return rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "list")
		default:
			return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "k"}), anyValue(depth-1), 0, 3).Draw(t, "object")
		}
	})
}

// Defaulting is idempotent, and an unchanged object passes the validation of an update.
func TestQuickObjects(t *testing.T) {
	s := schemaOf(t, `{"type":"object","required":["a"],"properties":{
		"a":{"type":"string","maxLength":3,"default":"d"},"b":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"integer","default":1}}}},
		"c":{"type":"object","additionalProperties":{"type":"number","minimum":0},"anyOf":[{"required":["a"]},{"minProperties":2}]}}}`)
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "k"}), anyValue(2), 0, 4).Draw(t, "object")
		s.FillIn(object)
		again := clone(object)
		s.FillIn(again)
		require.Equal(t, any(object), again)
		s.Lists("", object)
		require.Empty(t, s.Validate("", object, clone(object)))
		for _, e := range s.Validate("", object, nil) {
			require.NotEmpty(t, e.Field)
		}
	})
}
