package resources

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Findings are the mistakes in a document.
type Findings struct {
	// Unknown has a message for every unknown field, such as `unknown field "spec.replica"`.
	// fieldValidation decides whether the server refuses the document, warns, or drops
	// the fields.
	Unknown []string
	// TypeError reports a value that does not fit its field, in the words of kube-apiserver's
	// decoder: `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of
	// type int32`. It is nil if all values fit. Such a document is always refused.
	TypeError error
}

// Check compares a document with its type. If several values do not fit, the error is about the
// first in the order of sorted keys. kube-apiserver uses the order of the text, which is the same
// for everything that Go encoded.
func (t *Type) Check(tree map[string]any) Findings {
	c := checker{}
	c.value(t, nil, tree)
	return Findings{Unknown: c.unknown, TypeError: c.failed}
}

// checker walks through a document.
type checker struct {
	path    []step
	unknown []string
	failed  error // ends the walk
}

// step is one step of a path: a struct field, a map key, or (with an empty name) an index.
type step struct {
	name   string
	inside string
	index  int
	field  bool
}

func (c *checker) value(t, owner *Type, value any) {
	if value == nil || t.Kind() == Any {
		return
	}
	switch t.kind {
	case Object:
		if tree, ok := value.(map[string]any); ok {
			c.object(t, owner, tree)
			return
		}
	case Array:
		if list, ok := value.([]any); ok {
			c.list(t.element, owner, list)
			return
		}
	default:
		c.plain(t, owner, value)
		return
	}
	c.mismatch(t, owner, value)
}

func (c *checker) object(t, owner *Type, tree map[string]any) {
	if t.element == nil {
		owner = t
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		c.member(t, owner, key, tree[key])
	}
}

func (c *checker) member(t, owner *Type, key string, value any) {
	if c.failed != nil {
		return
	}
	field, known := t.Field(key)
	s := step{name: key, field: t.element == nil}
	if field != nil {
		s.inside = field.inside
	}
	c.path = append(c.path, s)
	if !known {
		c.unknown = append(c.unknown, fmt.Sprintf("unknown field %q", c.place()))
	} else {
		c.value(field, owner, value)
	}
	c.path = c.path[:len(c.path)-1]
}

func (c *checker) list(element, owner *Type, list []any) {
	if element.Kind() == Any {
		return
	}
	for i, inner := range list {
		if c.failed != nil {
			return
		}
		c.path = append(c.path, step{index: i})
		c.value(element, owner, inner)
		c.path = c.path[:len(c.path)-1]
	}
}

// place formats the path with indices.
func (c *checker) place() string {
	var path strings.Builder
	for i, s := range c.path {
		switch {
		case s.name == "" && !s.field:
			fmt.Fprintf(&path, "[%d]", s.index)
		case i > 0:
			path.WriteString("." + s.name)
		default:
			path.WriteString(s.name)
		}
	}
	return path.String()
}

// plain checks a scalar.
func (c *checker) plain(t, owner *Type, value any) {
	text, isText := value.(string)
	switch t.kind {
	case String, Boolean:
		_, isBool := value.(bool)
		if (t.kind == String && !isText) || (t.kind == Boolean && !isBool) {
			c.mismatch(t, owner, value)
		}
	case Integer:
		c.integer(t, owner, value)
	case Number:
		if !isNumber(value) {
			c.mismatch(t, owner, value)
		}
	case IntOrString:
		if !isText {
			c.integer(int32Type, owner, value)
		}
	case Quantity:
		switch {
		case isText:
			c.failed = checkQuantity(strings.TrimSpace(text))
		case !isNumber(value):
			c.failed = errQuantityFormat
		}
	case Time:
		c.time(t, owner, value, time.RFC3339)
	case MicroTime:
		c.time(t, owner, value, "2006-01-02T15:04:05.000000Z07:00")
	case Bytes:
		c.bytes(t, owner, value)
	}
}

// The types that messages name for values decoded in two stages.
var (
	int32Type  = &Type{kind: Integer, goType: "int32", bits: 32}
	uint8Type  = &Type{kind: Integer, goType: "uint8", bits: 8}
	stringType = &Type{kind: String, goType: "string"}
)

func isNumber(value any) bool {
	switch value.(type) {
	case int64, float64, json.Number:
		return true
	}
	return false
}

// integer checks an integer of t's size.
func (c *checker) integer(t, owner *Type, value any) {
	whole, ok := value.(int64)
	switch {
	case !ok:
	case t.bits == 8 && whole >= 0 && whole < 1<<8, t.bits == 32 && whole == int64(int32(whole)), t.bits == 64:
		return
	}
	c.mismatch(t, owner, value)
}

func (c *checker) time(t, owner *Type, value any, layout string) {
	text, ok := value.(string)
	if !ok {
		c.mismatch(stringType, owner, value)
		return
	}
	if _, err := time.Parse(layout, text); err != nil {
		c.failed = err
	}
}

// bytes checks base64 text or, as Go's decoder accepts too, a list of numbers.
func (c *checker) bytes(t, owner *Type, value any) {
	switch v := value.(type) {
	case string:
		if _, err := base64.StdEncoding.DecodeString(v); err != nil {
			c.failed = err
		}
	case []any:
		c.list(uint8Type, owner, v)
	default:
		c.mismatch(t, owner, value)
	}
}

// mismatch records a value that is not of type t.
func (c *checker) mismatch(t, owner *Type, value any) {
	if t.custom {
		return // Schema.Validate validates custom resources
	}
	if owner.Name() == "" && c.fields() == "" { // the document itself
		c.failed = fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", found(t, value), t.goType)
		return
	}
	c.failed = fmt.Errorf("json: cannot unmarshal %s into Go struct field %s.%s of type %s",
		found(t, value), owner.Name(), c.fields(), t.goType)
}

// fields formats the path for messages about values: no indices and map keys, but embedded structs.
func (c *checker) fields() string {
	var names []string
	for _, s := range c.path {
		if !s.field {
			continue
		}
		if s.inside != "" {
			names = append(names, s.inside)
		}
		names = append(names, s.name)
	}
	return strings.Join(names, ".")
}

// found describes the value. A number is shown if an integer is expected.
func found(t *Type, value any) string {
	name := JSONType(value)
	if name == "number" && t.kind == Integer {
		return fmt.Sprintf("number %v", value)
	}
	return name
}

// JSONType returns the name of a value's type in encoding/json's messages. A null counts as a
// number.
func JSONType(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "bool"
	}
	return "number"
}
