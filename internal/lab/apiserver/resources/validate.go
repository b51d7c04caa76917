package resources

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orrery/internal/lab/apiserver/meta"
	"orrery/restclient/api"
)

// Validate checks a value; path is its position in the object. With an old value, unchanged parts
// may stay invalid (KEP-4008). old is nil for a new object.
func (s *Schema) Validate(path string, value, old any) []meta.FieldError {
	return validator{prefix: path}.value(s, "", value, old).wrong
}

// validator prefixes the fields of its errors.
type validator struct{ prefix string }

// result is the errors of a value and the number of checks it passed. If all alternatives fail, the
// one that passed the most is reported.
type result struct {
	wrong   []meta.FieldError
	matched int
}

func (r *result) merge(other result) {
	r.wrong, r.matched = append(r.wrong, other.wrong...), r.matched+other.matched
}

func (v validator) field(name string) string {
	if name = strings.TrimPrefix(name, "."); name == "" {
		return v.whole()
	}
	return join(v.prefix, name)
}

// whole names the value as a whole.
func (v validator) whole() string {
	if v.prefix == "" {
		return "<nil>"
	}
	return v.prefix
}

func (r *result) add(kind api.CauseType, field string, value any, format string, args ...any) {
	r.wrong = append(r.wrong,
		meta.FieldError{Type: kind, Field: field, Value: value, Detail: fmt.Sprintf(format, args...)})
}

func (v validator) invalid(r *result, name string, value any, format string, args ...any) {
	r.add(meta.FieldInvalid, v.field(name), value, "%s in body %s", name, fmt.Sprintf(format, args...))
}

// about adds an error that concerns no single field.
func (v validator) about(r *result, format string, args ...any) {
	r.add(meta.FieldInvalid, v.whole(), "", format, args...)
}

// value checks a value in the order of kube-openapi, with fields ordered by name.
func (v validator) value(s *Schema, name string, value, old any) result {
	var r result
	if s == nil {
		return r
	}
	if large, ok := value.(json.Number); ok { // larger than an int64
		value, _ = large.Float64()
	}
	if len(s.types()) > 0 || s.Format != "" {
		r.merge(v.kind(s, name, value))
		r.matched++
	}
	if value == nil {
		r.merge(v.enum(s, name, value))
	} else {
		r.merge(v.combinations(s, name, value, old))
		switch value := value.(type) {
		case string:
			r.merge(v.text(s, name, value))
		case int64:
			r.merge(v.number(s, name, value, float64(value)))
		case float64:
			r.merge(v.number(s, name, value, value))
		case []any:
			r.merge(v.list(s, name, value, old))
		}
		r.merge(v.enum(s, name, value))
		if object, ok := value.(map[string]any); ok {
			r.merge(v.object(s, name, object, old))
		}
		r.matched += 3
	}
	if old != nil && len(r.wrong) > 0 && reflect.DeepEqual(value, old) {
		r.wrong = nil
	}
	return r
}

// kindOf is the type and the format of a value.
func kindOf(value any) (kind, format string) {
	switch value.(type) {
	case nil:
		return "null", ""
	case bool:
		return "boolean", ""
	case string:
		return "string", ""
	case int64:
		return "integer", "int64"
	case float64:
		return "number", "float64"
	case []any:
		return "array", ""
	}
	return "object", ""
}

func (v validator) kind(s *Schema, name string, value any) (r result) {
	kind, format := kindOf(value)
	mismatch := func(want, found string) result {
		r.add(meta.FieldTypeInvalid, v.field(name), found, "%s in body must be of type %s: %q", name, want, found)
		return r
	}
	fraction, isFloat := value.(float64)
	fits := s.accepts(kind) || isFloat && isWhole(fraction) && s.accepts("integer") || kind == "integer" && s.accepts("number")
	sequence := kind == "string" || kind == "array"
	switch {
	case value == nil:
		if len(s.types()) > 0 && !s.Nullable {
			return mismatch(strings.Join(s.types(), ","), kind)
		}
	case s.Format != "" && !sequence && !fits && format != s.Format:
		return mismatch(s.Format, format)
	case s.Format != "" && sequence && !s.accepts("number") && !s.accepts("integer"):
	case !fits:
		return mismatch(strings.Join(s.types(), ","), kind)
	}
	r.matched++
	return r
}

func (v validator) enum(s *Schema, name string, value any) (r result) {
	if len(s.Enum) == 0 || slices.ContainsFunc(s.Enum, func(one literal) bool { return equal(value, one.value) }) {
		return r
	}
	supported := make([]string, len(s.Enum))
	for i, one := range s.Enum {
		shown, isText := one.value.(string)
		if !isText {
			shown = encoded(one.value)
		}
		supported[i] = strconv.Quote(shown)
	}
	r.add(meta.FieldNotSupported, v.field(name), value, "supported values: %s", strings.Join(supported, ", "))
	return r
}

// equal compares a value with one in a schema; 1 equals 1.0.
func equal(a, b any) bool {
	if left, ok := a.(int64); ok {
		if right, ok := b.(float64); ok {
			return float64(left) == right
		}
	}
	return reflect.DeepEqual(a, b)
}

func (v validator) text(s *Schema, name, value string) (r result) {
	length := int64(utf8.RuneCountInString(value))
	switch {
	case s.MaxLength != nil && length > *s.MaxLength:
		r.add(meta.FieldTooLong, v.field(name), nil, "may not be more than %d bytes", *s.MaxLength)
	case s.MinLength != nil && length < *s.MinLength:
		v.invalid(&r, name, value, "should be at least %d chars long", *s.MinLength)
	case s.Pattern != "":
		if s.pattern == nil || !s.pattern.MatchString(value) {
			v.invalid(&r, name, value, "should match '%s'", s.Pattern)
		}
	}
	r.matched++
	if fits := s.format(); fits != nil {
		if r.matched++; !fits(value) {
			r.add(meta.FieldTypeInvalid, v.field(name), value, "%s in body must be of type %s: %q", name, s.Format,
				value)
		}
	}
	return r
}

func (v validator) list(s *Schema, name string, list []any, old any) (r result) {
	if s.Items != nil {
		previous := s.correlated(old)
		for i, item := range list {
			r.merge(v.value(s.Items, indexed(name, i), item, previous(item)))
		}
	}
	count := int64(len(list))
	if s.MinItems != nil && count < *s.MinItems {
		v.invalid(&r, name, count, "should have at least %d items", *s.MinItems)
	}
	if s.MaxItems != nil && count > *s.MaxItems {
		r.add(meta.FieldTooMany, v.field(name), count, "must have at most %d items", *s.MaxItems)
	}
	r.matched += 2
	return r
}

// correlated returns a function that finds the old item with the same list map keys. It finds
// nothing for other lists.
func (s *Schema) correlated(old any) func(item any) any {
	before, _ := old.([]any)
	if s.ListType != "map" || len(before) == 0 {
		return func(any) any { return nil }
	}
	byKeys := map[string]any{}
	for _, item := range before {
		byKeys[s.keysOf(item)] = item
	}
	return func(item any) any { return byKeys[s.keysOf(item)] }
}

func (v validator) object(s *Schema, name string, object map[string]any, old any) (r result) {
	count := int64(len(object))
	if s.MinProperties != nil && count < *s.MinProperties {
		v.invalid(&r, name, count, "should have at least %d properties", *s.MinProperties)
	}
	if s.MaxProperties != nil && count > *s.MaxProperties {
		r.add(meta.FieldTooMany, v.field(name), count, "must have at most %d items", *s.MaxProperties)
	}
	before, _ := old.(map[string]any)
	for _, key := range sortedKeys(object) {
		if inner := s.at(key); inner != nil {
			below := name + "." + key
			if _, named := s.Properties[key]; named {
				below = join(name, key)
			}
			r.merge(v.value(inner, below, object[key], before[key]))
		}
	}
	for _, key := range s.Required {
		if _, there := object[key]; !there {
			r.add(meta.FieldRequired, v.field(name+"."+key), nil, "")
		}
	}
	r.matched++
	return r
}

func (v validator) combinations(s *Schema, name string, value, old any) (r result) {
	if len(s.AnyOf) > 0 {
		valid, first, best := v.alternatives(s.AnyOf, name, value, old)
		if valid == 0 {
			v.about(&r, "%q must validate at least one schema (anyOf)", name)
			r.merge(best)
		} else {
			r.merge(first)
		}
	}
	if len(s.OneOf) > 0 {
		switch valid, first, best := v.alternatives(s.OneOf, name, value, old); valid {
		case 0:
			v.about(&r, "%q must validate one and only one schema (oneOf). Found none valid", name)
			r.merge(best)
		case 1:
			r.merge(first)
		default:
			v.about(&r, "%q must validate one and only one schema (oneOf). Found %d valid alternatives", name, valid)
		}
	}
	valid := 0
	for _, one := range s.AllOf {
		inner := v.value(one, name, value, old)
		if len(inner.wrong) == 0 {
			valid++
		}
		r.merge(inner)
	}
	if valid != len(s.AllOf) {
		none := ""
		if valid == 0 {
			none = ". None validated"
		}
		v.about(&r, "%q must validate all the schemas (allOf)%s", name, none)
	}
	if s.Not != nil && len(v.value(s.Not, name, value, nil).wrong) == 0 {
		v.about(&r, "%q must not validate the schema (not)", name)
	}
	r.matched++
	return r
}

// alternatives returns the number of schemas that accept value, the result of the first of them,
// and the result of the failed schema that passed the most checks.
func (v validator) alternatives(schemas []*Schema, name string, value, old any) (valid int, first, best result) {
	for _, one := range schemas {
		switch inner := v.value(one, name, value, old); {
		case len(inner.wrong) == 0:
			if valid++; valid == 1 {
				first = inner
			}
		case best.wrong == nil || inner.matched > best.matched:
			best = inner
		}
	}
	return valid, first, best
}

func (v validator) number(s *Schema, name string, value any, n float64) (r result) {
	_, isInt := value.(int64)
	if s.Type == "integer" && !s.IntOrString {
		r.merge(v.inRange(s, name, n, isInt))
	}
	// bound returns a limit, and as messages show it. Integers are compared with integers.
	bound := func(limit *float64) (float64, any) {
		if isInt {
			return math.Trunc(*limit), int64(*limit)
		}
		return *limit, *limit
	}
	if s.MultipleOf != nil {
		if factor, shown := bound(s.MultipleOf); factor <= 0 {
			r.add(meta.FieldInvalid, v.field(name), shown, "factor MultipleOf declared for %s must be positive: %v",
				name, shown)
		} else if !isWhole(n / factor) {
			v.invalid(&r, name, value, "should be a multiple of %v", shown)
		}
	}
	if s.Minimum != nil {
		if low, shown := bound(s.Minimum); n < low || n == low && s.ExclusiveMinimum {
			v.invalid(&r, name, value, "should be greater than %s%v", orEqual(s.ExclusiveMinimum), shown)
		}
	}
	if s.Maximum != nil {
		if high, shown := bound(s.Maximum); n > high || n == high && s.ExclusiveMaximum {
			v.invalid(&r, name, value, "should be less than %s%v", orEqual(s.ExclusiveMaximum), shown)
		}
	}
	r.matched += 2
	return r
}

// inRange checks that the value is an integer and fits its format.
func (v validator) inRange(s *Schema, name string, n float64, isInt bool) (r result) {
	fits := isInt || n == math.Trunc(n)
	if s.Format == "int32" && fits {
		fits = n >= math.MinInt32 && n <= math.MaxInt32
	}
	switch {
	case fits:
	case s.Format != "":
		v.about(&r, "Checked value must be of type %s with format %s in %s", s.Type, s.Format, name)
	default:
		v.about(&r, "Checked value must be of type %s (default format) in %s", s.Type, name)
	}
	return r
}

func orEqual(exclusive bool) string {
	if exclusive {
		return ""
	}
	return "or equal to "
}

// isWhole reports whether f is an integer up to rounding errors.
func isWhole(f float64) bool {
	const largest, tolerance = 1<<53 - 1, 1e-9
	if math.IsNaN(f) || math.Abs(f) > largest {
		return false
	}
	rest := math.Abs(f - math.Round(f))
	return rest == 0 || rest/(2*math.Abs(f)) < tolerance
}
