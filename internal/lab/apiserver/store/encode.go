package store

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendValue appends a value as JSON. The result equals that of encoding/json, without reflection.
// Members are sorted by name, so equal trees have equal encodings. Types other than those of a
// decoded document go to encoding/json.
func appendValue(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return appendString(dst, v), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case map[string]any:
		if v == nil {
			return append(dst, "null"...), nil
		}
		dst, err := appendMembers(append(dst, '{'), v, false)
		return append(dst, '}'), err
	case []any:
		return appendItems(dst, v)
	default:
		encoded, err := json.Marshal(v)
		return append(dst, encoded...), err
	}
}

// appendMembers appends the members of an object without its braces. comma reports whether members
// precede them.
func appendMembers(dst []byte, object map[string]any, comma bool, except ...string) ([]byte, error) {
	var few [16]string // avoids an allocation for small objects
	names := few[:0]
	for name := range object {
		if !slices.Contains(except, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(appendString(dst, name), ':')
		var err error
		if dst, err = appendValue(dst, object[name]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendItems(dst []byte, items []any) ([]byte, error) {
	if items == nil {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, item); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendString appends a JSON string. Like encoding/json, and so like kube-apiserver, it escapes
// HTML.
func appendString(dst []byte, text string) []byte {
	if !plain(text) {
		encoded, _ := json.Marshal(text) // cannot fail for a string
		return append(dst, encoded...)
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// plain reports whether a string needs no escaping.
func plain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c >= utf8.RuneSelf, c == '"', c == '\\', c == '<', c == '>', c == '&', c == 0x7f:
			return false
		}
	}
	return true
}
