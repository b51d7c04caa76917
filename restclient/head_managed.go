package restclient

import (
	"encoding/json"
	"errors"
	"time"

	"orrery/restclient/api"
)

// managedMessages makes of the entries the JSON text that the server would have sent in their place: that takes as long as
// copying, since what is large in them, the fields, is JSON already.
func (r *headReader) managedMessages(row []byte) error {
	r.json = append(r.json[:0], '[')
	f := fields{rest: row}
	for f.next() {
		if len(r.json) > 1 {
			r.json = append(r.json, ',')
		}
		var err error
		if r.json, err = appendManagedEntry(r.json, f.value); err != nil {
			return err
		}
	}
	if f.err != nil {
		return f.err
	}
	r.json = append(r.json, ']')
	form, own, n := r.memory.managed.Match(r.json)
	if form != nil && n == len(r.json) {
		r.text.addManaged(&r.head.ManagedFields, form, own)
		return nil
	}
	if !json.Valid(r.json) {
		return errManagedFields
	}
	r.head.ManagedFields = api.NewManagedFields(r.json)
	if !r.single {
		r.memory.managed.Learn(r.json)
	}
	return nil
}

var errManagedFields = errors.New("managed fields that are not JSON")

// appendManagedEntry writes an entry of the managed fields in the order of the server's JSON.
func appendManagedEntry(b, message []byte) ([]byte, error) {
	var texts [9][]byte // by number of the field
	var moment []byte
	f := fields{rest: message}
	for f.next() {
		switch f.number {
		case 4:
			moment = f.value
		case 7:
			raw, err := readRaw(f.value)
			if err != nil {
				return b, err
			}
			texts[7] = raw
		case 1, 2, 3, 6, 8:
			texts[f.number] = f.value
		}
	}
	if f.err != nil {
		return b, f.err
	}
	b = append(b, '{')
	first := len(b)
	b = appendTextField(b, first, `"manager":`, texts[1])
	b = appendTextField(b, first, `"operation":`, texts[2])
	b = appendTextField(b, first, `"apiVersion":`, texts[3])
	if moment != nil {
		at, err := readTime(moment)
		if err != nil {
			return b, err
		}
		b = appendName(b, first, `"time":"`)
		b = append(at.AppendFormat(b, time.RFC3339), '"')
	}
	b = appendTextField(b, first, `"fieldsType":`, texts[6])
	if len(texts[7]) > 0 {
		b = append(appendName(b, first, `"fieldsV1":`), texts[7]...)
	}
	b = appendTextField(b, first, `"subresource":`, texts[8])
	return append(b, '}'), nil
}

// appendName begins a field of a JSON object whose first field is to begin at first.
func appendName(b []byte, first int, name string) []byte {
	if len(b) > first {
		b = append(b, ',')
	}
	return append(b, name...)
}

func appendTextField(b []byte, first int, name string, text []byte) []byte {
	if len(text) == 0 {
		return b
	}
	b = appendName(b, first, name)
	if plain, ascii := plainText(text); plain && ascii {
		return append(append(append(b, '"'), text...), '"')
	}
	quoted, _ := json.Marshal(string(text)) // a string cannot fail
	return append(b, quoted...)
}
