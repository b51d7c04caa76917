package resources

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"orrery/restclient/api"
)

// compiled returns the validator of an openAPIV3Schema, or nil if the library refuses the schema.
func compiled(openAPIV3Schema tree) *jsonschema.Schema {
	const name = "schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft4)
	compiler.AssertFormat()
	for format, validate := range ownFormats {
		compiler.RegisterFormat(&jsonschema.Format{Name: format, Validate: validate})
	}
	if compiler.AddResource(name, plainSchema(openAPIV3Schema)) != nil {
		return nil
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return nil
	}
	return schema
}

// plainKeywords mean the same in an openAPIV3Schema and in JSON schema, draft 4.
var plainKeywords = []string{
	"pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minItems", "maxItems", "minProperties", "maxProperties",
}

// plainSchema converts an openAPIV3Schema to a JSON schema, which knows neither nullable nor
// x-kubernetes-int-or-string.
func plainSchema(openAPI tree) tree {
	plain := tree{}
	for _, key := range plainKeywords {
		fill(plain, key, openAPI[key])
	}
	if format := text(openAPI, "format"); knowsFormat(format) { // others are ignored
		fill(plain, "format", format)
	}
	for _, key := range []string{"required", "enum"} { // draft 4 refuses an empty list
		if list, _ := openAPI[key].([]any); len(list) > 0 {
			plain[key] = list
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		if inner := child(openAPI, key); inner != nil {
			plain[key] = plainSchema(inner)
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, inner := range items(openAPI, key) {
			extend(plain, key, plainSchema(inner))
		}
	}
	for name := range child(openAPI, "properties") {
		ensure(plain, "properties")[name] = plainSchema(child(child(openAPI, "properties"), name))
	}
	var types []any
	switch {
	case boolean(openAPI, "x-kubernetes-int-or-string"):
		types = []any{"integer", "string"}
	case text(openAPI, "type") != "":
		types = []any{text(openAPI, "type")}
	}
	if len(types) > 0 && boolean(openAPI, "nullable") {
		types = append(types, "null")
	}
	if len(types) > 0 {
		plain["type"] = types
	}
	if text(openAPI, "x-kubernetes-list-type") == "set" {
		plain["uniqueItems"] = true
	}
	for key, value := range plain {
		if value == nil {
			delete(plain, key)
		}
	}
	return plain
}

// validateCustom checks a custom resource against its schema; old is empty for a new one. A
// mistake that the old object has too may stay. The errors are ordered by field.
func validateCustom(schema *jsonschema.Schema, o, old *api.Unstructured) []FieldError {
	if schema == nil {
		return nil
	}
	wrong := schemaErrors(schema, o.Object)
	if old.Object != nil && len(wrong) > 0 {
		before := schemaErrors(schema, old.Object)
		wrong = slices.DeleteFunc(wrong, func(one FieldError) bool {
			return slices.ContainsFunc(before, func(other FieldError) bool { return reflect.DeepEqual(one, other) })
		})
	}
	return wrong
}

func schemaErrors(schema *jsonschema.Schema, object tree) []FieldError {
	refused, _ := schema.Validate(object).(*jsonschema.ValidationError)
	wrong := valueErrors(refused, object)
	slices.SortStableFunc(wrong, func(a, b FieldError) int { return strings.Compare(a.Field, b.Field) })
	return wrong
}

// valueErrors returns the errors about single values. What is wrong in each alternative of anyOf
// and oneOf is left out.
func valueErrors(refused *jsonschema.ValidationError, object any) (wrong []FieldError) {
	if refused == nil {
		return nil
	}
	switch refused.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf:
		for _, cause := range refused.Causes {
			wrong = append(wrong, valueErrors(cause, object)...)
		}
		return wrong
	}
	field, value := "", object
	for _, step := range refused.InstanceLocation {
		if list, isList := value.([]any); isList {
			at, _ := strconv.Atoi(step)
			field, value = indexed(field, at), list[at]
			continue
		}
		field, value = join(field, step), value.(tree)[step]
	}
	return fieldErrors(field, value, refused.ErrorKind)
}

// fieldErrors describes what is wrong with the value of a field.
func fieldErrors(field string, value any, problem jsonschema.ErrorKind) []FieldError {
	one := FieldError{Type: FieldInvalid, Field: field, Value: value}
	invalid := func(format string, args ...any) {
		one.Detail = field + " in body " + fmt.Sprintf(format, args...)
	}
	ofType := func(want string, shown any) {
		one.Type, one.Value = FieldTypeInvalid, shown
		invalid("must be of type %s: %q", want, shown)
	}
	tooMany := func(count, most int) {
		one.Type, one.Value, one.Detail = FieldTooMany, count, fmt.Sprintf("must have at most %d items", most)
	}
	switch p := problem.(type) {
	case *kind.Required:
		var missing []FieldError
		for _, name := range p.Missing {
			missing = append(missing, FieldError{Type: FieldRequired, Field: join(field, name)})
		}
		return missing
	case *kind.Type:
		want := slices.DeleteFunc(slices.Clone(p.Want), func(name string) bool { return name == "null" })
		ofType(strings.Join(want, ","), typeName(value))
	case *kind.Format:
		ofType(p.Want, value)
	case *kind.Enum:
		var supported []string
		for _, literal := range p.Want {
			supported = append(supported, strconv.Quote(fmt.Sprint(literal)))
		}
		one.Type, one.Detail = FieldNotSupported, "supported values: "+strings.Join(supported, ", ")
	case *kind.MaxLength:
		one.Type, one.Detail = FieldTooLong, fmt.Sprintf("may not be more than %d bytes", p.Want)
	case *kind.MinLength:
		invalid("should be at least %d chars long", p.Want)
	case *kind.Pattern:
		invalid("should match '%s'", p.Want)
	case *kind.MaxItems:
		tooMany(p.Got, p.Want)
	case *kind.MaxProperties:
		tooMany(p.Got, p.Want)
	case *kind.MinItems:
		one.Value = p.Got
		invalid("should have at least %d items", p.Want)
	case *kind.MinProperties:
		one.Value = p.Got
		invalid("should have at least %d properties", p.Want)
	case *kind.Minimum:
		invalid("should be greater than or equal to %s", shown(p.Want))
	case *kind.ExclusiveMinimum:
		invalid("should be greater than %s", shown(p.Want))
	case *kind.Maximum:
		invalid("should be less than or equal to %s", shown(p.Want))
	case *kind.ExclusiveMaximum:
		invalid("should be less than %s", shown(p.Want))
	case *kind.MultipleOf:
		invalid("should be a multiple of %s", shown(p.Want))
	default:
		one.Value, one.Detail = "", "does not satisfy the schema ("+strings.Join(problem.KeywordPath(), ".")+")"
	}
	return []FieldError{one}
}

// typeName returns the name of a value's type in JSON schema.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func shown(limit *big.Rat) string {
	exact, _ := limit.Float64()
	return strconv.FormatFloat(exact, 'f', -1, 64)
}

// Prune reduces a document to what remains after decoding it into its Go type and encoding it
// again: it drops unknown fields, nulls, and empty fields that the type omits. A quantity that is a
// number becomes text. The tree is changed in place and must have passed [Type.Check] without a
// TypeError.
func (t *Type) Prune(tree map[string]any) {
	if t == nil || t.kind != Object {
		return
	}
	for key, value := range tree {
		field, known := t.Field(key)
		if value != nil {
			field.prune(value)
		}
		switch {
		case !known:
			delete(tree, key)
		case value == nil && t.custom:
		case value == nil, field != nil && field.omitted && isEmpty(value):
			delete(tree, key)
		case field.Kind() == Quantity:
			tree[key] = fmt.Sprint(value)
		}
	}
}

func (t *Type) prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		t.Prune(v)
	case []any:
		for _, inner := range v {
			t.Items().prune(inner)
		}
	}
}

// isEmpty reports whether a value is the zero value of its Go type.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case bool:
		return !v
	}
	return false
}
