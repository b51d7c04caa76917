package api

import "encoding/json"

// Unstructured is an object of a kind that is not known when the program is built: a JSON document with
// accessors for its head. The zero value is an empty object.
type Unstructured struct {
	// Object is the document: maps, slices, strings, bools, nil, int64 and float64.
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

// NestedString returns the string at the path, or "" if there is none.
func (u *Unstructured) NestedString(path ...string) string {
	value, _ := u.Nested(path...).(string)
	return value
}

// Nested returns the value at the path, or nil if there is none.
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

// GetKind returns the kind.
func (u *Unstructured) GetKind() string { return u.NestedString("kind") }

// GetAPIVersion returns group/version, or the version alone for the core group.
func (u *Unstructured) GetAPIVersion() string { return u.NestedString("apiVersion") }

// GetName returns metadata.name.
func (u *Unstructured) GetName() string { return u.NestedString("metadata", "name") }

// GetNamespace returns metadata.namespace.
func (u *Unstructured) GetNamespace() string { return u.NestedString("metadata", "namespace") }

// GetUID returns metadata.uid.
func (u *Unstructured) GetUID() string { return u.NestedString("metadata", "uid") }

// GetResourceVersion returns metadata.resourceVersion.
func (u *Unstructured) GetResourceVersion() string {
	return u.NestedString("metadata", "resourceVersion")
}

// GetLabels returns a copy of metadata.labels.
func (u *Unstructured) GetLabels() map[string]string { return u.nestedStringMap("metadata", "labels") }

// GetAnnotations returns a copy of metadata.annotations.
func (u *Unstructured) GetAnnotations() map[string]string {
	return u.nestedStringMap("metadata", "annotations")
}

// GetFinalizers returns a copy of metadata.finalizers.
func (u *Unstructured) GetFinalizers() []string {
	values, _ := u.Nested("metadata", "finalizers").([]any)
	var out []string
	for _, value := range values {
		if s, ok := value.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func (u *Unstructured) nestedStringMap(path ...string) map[string]string {
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
