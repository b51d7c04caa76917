package api

import "encoding/json"

// ManagedFields says which client manages which fields of an object (API documentation: server-side
// apply). It is often the larger part of an object's metadata. An object that is read, changed and
// written back must not lose it, so its JSON text is preserved. The zero value is none.
//
// It is immutable and safe for concurrent use.
type ManagedFields struct{ text string }

// NewManagedFields returns managed fields with a copy of the text, which must be a JSON value.
func NewManagedFields(text []byte) ManagedFields { return ManagedFields{text: string(text)} }

// IsZero reports whether there are none. encoding/json calls it for fields with "omitzero".
func (m ManagedFields) IsZero() bool { return m.text == "" }

// MarshalJSON returns the text; null if there are none.
func (m ManagedFields) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return []byte(m.text), nil
}

// UnmarshalJSON keeps a copy of the text; null is none.
func (m *ManagedFields) UnmarshalJSON(text []byte) error {
	*m = ManagedFields{}
	if string(text) != "null" {
		*m = NewManagedFields(text)
	}
	return nil
}

// String returns the text.
func (m ManagedFields) String() string { return m.text }

// ManagedFieldsEntry is the entry of one client. Its fields are JSON: a set of paths (API
// documentation: FieldsV1).
type ManagedFieldsEntry struct {
	Manager     string          `json:"manager,omitempty"`
	Operation   string          `json:"operation,omitempty"`
	APIVersion  string          `json:"apiVersion,omitempty"`
	Time        *Time           `json:"time,omitempty"`
	FieldsType  string          `json:"fieldsType,omitempty"`
	FieldsV1    json.RawMessage `json:"fieldsV1,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}

// Entries decodes the text. It fails if the text is not what an API server writes.
func (m ManagedFields) Entries() ([]ManagedFieldsEntry, error) {
	var entries []ManagedFieldsEntry
	if m.IsZero() {
		return nil, nil
	}
	err := Unmarshal([]byte(m.text), &entries)
	return entries, err
}
