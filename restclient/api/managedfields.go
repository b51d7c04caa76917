package api

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ManagedFields says which client manages which fields of an object (API documentation: server-side apply). It is large,
// often the larger part of an object's head, and nothing here looks into it, but an object that is read, changed and
// put back must not lose it. So it is an opaque JSON text, an array of entries. The zero value is none.
//
// It is immutable, and may be copied and read by any goroutine.
//
// Those of objects that came in one list or watch share what they have in common, see [ManagedFieldsSet]; compare them
// by [ManagedFields.Equal].
type ManagedFields struct {
	form *form // nil: own is the whole text
	own  string
}

// NewManagedFields returns managed fields with a copy of the text, which has to be a JSON value.
func NewManagedFields(text []byte) ManagedFields { return ManagedFields{own: string(text)} }

// IsZero tells whether there are none. encoding/json asks it for fields with "omitzero".
func (m ManagedFields) IsZero() bool { return m.form == nil && m.own == "" }

// AppendJSON appends the text to b: what the server sent in JSON, byte for byte, or the same entries in JSON if it sent
// protobuf. Nothing if there are none.
func (m ManagedFields) AppendJSON(b []byte) []byte {
	if m.form == nil {
		return append(b, m.own...)
	}
	return m.form.appendText(b, m.own)
}

// MarshalJSON returns the text; null if there are none.
func (m ManagedFields) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return m.AppendJSON(nil), nil
}

// UnmarshalJSON keeps a copy of the text; null is none.
func (m *ManagedFields) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*m = ManagedFields{}
		return nil
	}
	*m = NewManagedFields(text)
	return nil
}

// String returns the text.
func (m ManagedFields) String() string {
	if m.form == nil {
		return m.own
	}
	return string(m.AppendJSON(nil))
}

// Equal tells whether both have the same text.
func (m ManagedFields) Equal(other ManagedFields) bool {
	if m.form == other.form {
		return m.own == other.own
	}
	return bytes.Equal(m.AppendJSON(nil), other.AppendJSON(nil))
}

// ManagedFieldsEntry is what one client manages. Its fields are JSON: a set of paths (API documentation: FieldsV1).
type ManagedFieldsEntry struct {
	Manager     string          `json:"manager,omitempty"`
	Operation   string          `json:"operation,omitempty"`
	APIVersion  string          `json:"apiVersion,omitempty"`
	Time        *Time           `json:"time,omitempty"`
	FieldsType  string          `json:"fieldsType,omitempty"`
	FieldsV1    json.RawMessage `json:"fieldsV1,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}

// Entries takes the text apart. It fails if the text is not what an API server writes.
func (m ManagedFields) Entries() ([]ManagedFieldsEntry, error) {
	var entries []ManagedFieldsEntry
	if m.IsZero() {
		return nil, nil
	}
	err := json.Unmarshal(m.AppendJSON(nil), &entries)
	return entries, err
}

// form is what similar texts have in common: all but the content of some strings.
//
//	[{"manager":"kubelet","time":" HOLE ","fieldsV1":{"f:status":{"f:podIPs":{" HOLE ":{}}}}}]
//	└─────────── pieces[0] ──────┘      └─────────────── pieces[1] ─────────┘      └ pieces[2] ┘
//
// It is immutable.
type form struct {
	base   string
	texts  []span   // the content of all strings in base, in order
	holes  []int    // which of them may differ, in order
	pieces []string // of base, between the holes: one more than those
}

// span is a part of a text: text[from:to].
type span struct{ from, to int }

// maxHoles bounds how different texts of one form may be. Beyond it there is not much in common.
const maxHoles = 24

func newForm(base string, texts []span, holes []int) *form {
	f := &form{base: base, texts: texts, holes: holes}
	from := 0
	for _, hole := range holes {
		f.pieces = append(f.pieces, base[from:texts[hole].from])
		from = texts[hole].to
	}
	f.pieces = append(f.pieces, base[from:])
	return f
}

// read looks whether data begins with a text of this form. It returns the length of the text, 0 if not, and appends what
// is in the holes to own, each with a quote after it.
func (f *form) read(own, data []byte) (filled []byte, n int) {
	for i, piece := range f.pieces {
		if len(data)-n < len(piece) || string(data[n:n+len(piece)]) != piece {
			return own, 0
		}
		n += len(piece)
		if i == len(f.holes) {
			break
		}
		end := endOfText(data[n:])
		if end < 0 {
			return own, 0
		}
		own = append(own, data[n:n+end+1]...)
		n += end
	}
	return own, n
}

// appendText is the way back.
func (f *form) appendText(b []byte, own string) []byte {
	b = append(b, f.pieces[0]...)
	for _, piece := range f.pieces[1:] {
		end := endOfText(own)
		b = append(append(b, own[:end]...), piece...)
		own = own[end+1:]
	}
	return b
}

// endOfText returns where the quote is that ends the string whose content text begins with; -1 if there is none.
func endOfText[S string | []byte](text S) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// textsIn returns the content of all strings in a JSON value.
func textsIn(value string) []span {
	var texts []span
	for at := 0; ; {
		quote := strings.IndexByte(value[at:], '"')
		if quote < 0 {
			return texts
		}
		from := at + quote + 1
		length := endOfText(value[from:])
		if length < 0 {
			return texts
		}
		texts = append(texts, span{from, from + length})
		at = from + length + 1
	}
}
