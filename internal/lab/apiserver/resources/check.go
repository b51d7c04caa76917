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
	// TypeError reports a value that does not fit its field: `spec.replicas: must be an integer, not
	// "x"`. It is nil if all values fit. Such a document is always refused.
	TypeError error
}

// Check compares a document with its type. If several values do not fit, the error is about the
// first in the order of sorted keys.
func (t *Type) Check(tree map[string]any) Findings {
	c := checker{}
	c.value(t, tree)
	return Findings{Unknown: c.unknown, TypeError: c.failed}
}

// checker walks through a document.
type checker struct {
	path    []string // with indices as "[0]"
	unknown []string
	failed  error // ends the walk
}

func (c *checker) value(t *Type, value any) {
	if value == nil || t.Kind() == Any {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		if t.kind == Object {
			c.object(t, v)
			return
		}
	case []any:
		if t.kind == Array {
			c.list(t.element, v)
			return
		}
	}
	c.plain(t, value)
}

func (c *checker) object(t *Type, tree map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		if c.failed != nil {
			return
		}
		c.path = append(c.path, key)
		if field, known := t.Field(key); known {
			c.value(field, tree[key])
		} else {
			c.unknown = append(c.unknown, fmt.Sprintf("unknown field %q", c.place()))
		}
		c.path = c.path[:len(c.path)-1]
	}
}

func (c *checker) list(element *Type, list []any) {
	for i, inner := range list {
		if c.failed != nil {
			return
		}
		c.path = append(c.path, fmt.Sprintf("[%d]", i))
		c.value(element, inner)
		c.path = c.path[:len(c.path)-1]
	}
}

// place formats the path.
func (c *checker) place() string {
	return strings.ReplaceAll(strings.Join(c.path, "."), ".[", "[")
}

// plain checks a scalar.
func (c *checker) plain(t *Type, value any) {
	text, isText := value.(string)
	_, isBool := value.(bool)
	fits := true
	switch t.kind {
	case String:
		fits = isText
	case Boolean:
		fits = isBool
	case Integer:
		fits = isInteger(value, t.bits)
	case Number:
		fits = isNumber(value)
	case IntOrString:
		fits = isText || isInteger(value, 32)
	case Quantity:
		switch {
		case isText:
			c.failed = checkQuantity(strings.TrimSpace(text))
		case !isNumber(value):
			c.failed = errQuantityFormat
		}
	case Time:
		fits = c.time(value, time.RFC3339)
	case MicroTime:
		fits = c.time(value, "2006-01-02T15:04:05.000000Z07:00")
	case Bytes:
		fits = c.bytes(value)
	default:
		fits = false
	}
	if !fits && !t.custom { // validateCustom validates custom resources
		c.failed = fmt.Errorf("%s: must be %s, not %s", c.place(), kindWords[t.kind], found(value))
	}
}

// kindWords say what the values of a kind are.
var kindWords = map[Kind]string{
	Object: "an object", Array: "a list", String: "a string", Integer: "an integer", Number: "a number",
	Boolean: "true or false", IntOrString: "an integer or a string", Time: "a time", MicroTime: "a time",
	Bytes: "a string in base64",
}

func isNumber(value any) bool {
	switch value.(type) {
	case int64, float64, json.Number:
		return true
	}
	return false
}

// isInteger reports whether a value is an integer of this size.
func isInteger(value any, bits int) bool {
	whole, ok := value.(int64)
	return ok && (bits == 64 || whole == int64(int32(whole)))
}

// time checks a time, and reports whether the value is a text.
func (c *checker) time(value any, layout string) bool {
	text, ok := value.(string)
	if ok {
		_, c.failed = time.Parse(layout, text)
	}
	return ok
}

// bytes checks base64, and reports whether the value is a text or, as Go's decoder accepts too, a
// list of bytes.
func (c *checker) bytes(value any) bool {
	text, ok := value.(string)
	if ok {
		_, c.failed = base64.StdEncoding.DecodeString(text)
		return true
	}
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool {
		number, whole := one.(int64)
		return !whole || number < 0 || number > 255
	})
}

// found describes a value that does not fit.
func found(value any) string {
	switch value.(type) {
	case map[string]any:
		return kindWords[Object]
	case []any:
		return kindWords[Array]
	}
	return encoded(value)
}
