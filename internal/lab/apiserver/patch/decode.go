package patch

import (
	"encoding/json"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// decode reads one JSON value, with whole numbers as int64. The errors are those of encoding/json, which are
// kube-apiserver's too; the nesting is bounded there (10,000).
func decode(data []byte) (any, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil { // finds what follows the value as well
		return nil, err
	}
	// Documents are read by api.Unstructured, and only there is decided what a number becomes.
	wrapped := &api.Unstructured{}
	if err := json.Unmarshal(append(append([]byte(`{"value":`), data...), '}'), wrapped); err != nil {
		return nil, err
	}
	return wrapped.Object["value"], nil
}

// mergePatch is a merge patch (RFC 7386).
func mergePatch(document map[string]any, data []byte) (map[string]any, error) {
	value, err := decode(data)
	if err != nil {
		return nil, undecodable(err)
	}
	switch patch := value.(type) {
	case map[string]any:
		mergeInto(document, patch)
		return document, nil
	case nil:
		return nil, apierrors.BadRequest("Invalid JSON Patch")
	default:
		return nil, undecodable(notA(patch, "map[string]interface {}"))
	}
}

func mergeInto(document, patch map[string]any) {
	for key, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(document, key)
		case map[string]any:
			inner, ok := document[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				document[key] = inner
			}
			mergeInto(inner, v)
		default:
			document[key] = v
		}
	}
}

func undecodable(err error) error {
	return apierrors.BadRequest("error decoding patch: " + err.Error())
}

// found is the name of a value's type in the sentences of encoding/json.
func found(value any) string {
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

// notA is the error of encoding/json for a value that does not fit the Go type.
func notA(value any, goType string) error {
	return &mismatch{found: found(value), goType: goType}
}

// mismatch says that a part of a patch is of a wrong type.
type mismatch struct{ found, field, goType string }

func (e *mismatch) Error() string {
	where := "Go value"
	if e.field != "" {
		where = "Go struct field " + e.field
	}
	return "json: cannot unmarshal " + e.found + " into " + where + " of type " + e.goType
}

// size estimates the length of a value as JSON. It ends early where the limit is passed.
func size(value any) int {
	total := 0
	switch v := value.(type) {
	case map[string]any:
		total = 2
		for key, inner := range v {
			total += len(key) + 4 + size(inner)
			if total > LargestResult {
				break
			}
		}
	case []any:
		total = 2
		for _, inner := range v {
			total += 1 + size(inner)
			if total > LargestResult {
				break
			}
		}
	case string:
		total = 2 + len(v)
	default:
		total = 4
	}
	return total
}

// unescape reads a segment of a JSON pointer (RFC 6901).
func unescape(segment string) string {
	if !strings.Contains(segment, "~") {
		return segment
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(segment)
}
