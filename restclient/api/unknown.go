package api

import (
	"cmp"
	"encoding/json"
)

// unknownFields are the fields of a document that this package's types do not declare. An object
// that is read, changed and written must not lose them. Nil means none, which leaves objects
// comparable. They never change after decoding, so copies may share them.
type unknownFields struct {
	value json.RawMessage           // of an unknown field
	below map[string]*unknownFields // by the name of a field, or the identity of an item
}

// with returns u with the unknown fields below a name.
func (u *unknownFields) with(name string, below *unknownFields) *unknownFields {
	if below == nil {
		return u
	}
	if u == nil {
		u = &unknownFields{below: map[string]*unknownFields{}}
	}
	u.below[name] = below
	return u
}

// identity returns what distinguishes an item in its list: the uid of an owner, or the type of a
// condition.
func identity(item []byte) string {
	var names struct {
		UID  string `json:"uid"`
		Type string `json:"type"`
	}
	_ = Unmarshal(item, &names)
	return cmp.Or(names.UID, names.Type)
}

// encode encodes a struct with its unknown fields.
func (u *unknownFields) encode(object any) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return u.addTo(data), nil
}

// addTo returns the document with the unknown fields. Those of a removed field or item are dropped.
// The document was made by json.Marshal, so that nothing here can fail.
func (u *unknownFields) addTo(data json.RawMessage) json.RawMessage {
	switch {
	case u == nil:
		return data
	case u.value != nil:
		return u.value
	case data[0] == '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(data, &fields)
		for name, below := range u.below {
			if value, ok := fields[name]; ok || below.value != nil {
				fields[name] = below.addTo(value)
			}
		}
		data, _ = json.Marshal(fields)
	case data[0] == '[':
		var items []json.RawMessage
		_ = json.Unmarshal(data, &items)
		for i, item := range items {
			items[i] = u.below[identity(item)].addTo(item)
		}
		data, _ = json.Marshal(items)
	}
	return data
}
