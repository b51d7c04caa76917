package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Unstructured is an object of a kind unknown at compile time: a JSON document with accessors. The
// zero value is an empty object. No accessor panics: a missing value, or one of another type, is
// the zero value.
type Unstructured struct {
	// Object is the document: maps, slices, strings, bools, nil, int64 and float64 (json.Number for
	// a number that is too large for either).
	Object map[string]any
}

// MarshalJSON writes the document.
func (u *Unstructured) MarshalJSON() ([]byte, error) { return json.Marshal(u.Object) }

// UnmarshalJSON reads a document. Whole numbers become int64.
func (u *Unstructured) UnmarshalJSON(data []byte) error {
	object, err := decodeDocument(data)
	if err != nil {
		return err
	}
	u.Object = object
	return nil
}

// Nested returns the value at the path, or nil if there is none. Maps and slices are shared with
// the object.
func (u *Unstructured) Nested(path ...string) any {
	var current any = u.Object
	for _, key := range path {
		fields, ok := current.(map[string]any)
		if !ok {
			return nil
		}
		current = fields[key]
	}
	return current
}

// NestedString returns the string at the path, or "".
func (u *Unstructured) NestedString(path ...string) string {
	value, _ := u.Nested(path...).(string)
	return value
}

// NestedBool returns the boolean at the path, or false.
func (u *Unstructured) NestedBool(path ...string) bool {
	value, _ := u.Nested(path...).(bool)
	return value
}

// NestedInt64 returns the integer at the path, or 0.
func (u *Unstructured) NestedInt64(path ...string) int64 {
	value, _ := u.Nested(path...).(int64)
	return value
}

// NestedStringSlice returns a copy of the strings in the list at the path, nil if there is no list.
func (u *Unstructured) NestedStringSlice(path ...string) []string {
	values, _ := u.Nested(path...).([]any)
	var out []string
	for _, value := range values {
		if s, ok := value.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// NestedStringMap returns a copy of the strings in the map at the path, nil if there is no map.
func (u *Unstructured) NestedStringMap(path ...string) map[string]string {
	fields, _ := u.Nested(path...).(map[string]any)
	if fields == nil {
		return nil
	}
	out := make(map[string]string, len(fields))
	for key, value := range fields {
		if s, ok := value.(string); ok {
			out[key] = s
		}
	}
	return out
}

// SetNested stores a value at the path and creates missing maps. It fails if an element of the path
// is not a map. The value must be a valid document value, and the path not empty.
func (u *Unstructured) SetNested(value any, path ...string) error {
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	fields := u.Object
	for i, key := range path[:len(path)-1] {
		switch next := fields[key].(type) {
		case map[string]any:
			fields = next
		case nil:
			made := map[string]any{}
			fields[key] = made
			fields = made
		default:
			return fmt.Errorf("%s is a %T, not a map", strings.Join(path[:i+1], "."), next)
		}
	}
	fields[path[len(path)-1]] = value
	return nil
}

// RemoveNested removes the value at the path, which is not empty, if there is one.
func (u *Unstructured) RemoveNested(path ...string) {
	if fields, ok := u.Nested(path[:len(path)-1]...).(map[string]any); ok {
		delete(fields, path[len(path)-1])
	}
}

// DeepCopy returns a copy that shares no mutable data.
func (u *Unstructured) DeepCopy() *Unstructured {
	if u.Object == nil {
		return &Unstructured{}
	}
	return &Unstructured{Object: copyValue(u.Object).(map[string]any)}
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			out[key] = copyValue(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = copyValue(inner)
		}
		return out
	}
	return value
}

// The accessors of kind and metadata, as those of ObjectMeta; maps and slices are copies.

func (u *Unstructured) GetKind() string       { return u.NestedString("kind") }
func (u *Unstructured) GetAPIVersion() string { return u.NestedString("apiVersion") }
func (u *Unstructured) GetName() string       { return u.NestedString("metadata", "name") }
func (u *Unstructured) GetNamespace() string  { return u.NestedString("metadata", "namespace") }
func (u *Unstructured) GetUID() string        { return u.NestedString("metadata", "uid") }
func (u *Unstructured) GetResourceVersion() string {
	return u.NestedString("metadata", "resourceVersion")
}
func (u *Unstructured) GetLabels() map[string]string { return u.NestedStringMap("metadata", "labels") }
func (u *Unstructured) GetAnnotations() map[string]string {
	return u.NestedStringMap("metadata", "annotations")
}
func (u *Unstructured) GetFinalizers() []string { return u.NestedStringSlice("metadata", "finalizers") }

// GetDeletionTimestamp returns when the object was marked for deletion, or nil.
func (u *Unstructured) GetDeletionTimestamp() *Time {
	moment, err := time.Parse(time.RFC3339, u.NestedString("metadata", "deletionTimestamp"))
	if err != nil {
		return nil
	}
	return &Time{Time: moment}
}

// decodeDocument decodes a JSON object with integers as int64, so that large ones (generations,
// timestamps) survive a round trip; float64 would round them above 2^53. A number that fits neither
// type stays a json.Number, which is encoded unchanged.
func decodeDocument(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows the document")
	}
	for key, value := range object {
		object[key] = plainNumbers(value)
	}
	return object, nil
}

func plainNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = plainNumbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = plainNumbers(inner)
		}
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if whole, err := v.Int64(); err == nil {
				return whole
			}
		} else if float, err := v.Float64(); err == nil {
			return float
		}
	}
	return value
}
