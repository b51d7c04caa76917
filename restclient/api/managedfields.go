package api

import "encoding/json"

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
