package resources

import (
	"encoding/base64"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// readMessage decodes the fields of a message into a tree. No message contains one of its own type.
func readMessage(tree map[string]any, data []byte, name string) error {
	known := known().messages[name]
	return fields(data, func(number protowire.Number, value wireValue) error {
		f, ok := known[number]
		switch {
		case !ok:
			return nil
		case f.name == "-":
			return readMessage(tree, value.bytes, f.form.name)
		case f.form.mapped:
			return readEntry(tree, f, value.bytes)
		}
		read, err := readValue(f.form.name, value)
		if err != nil {
			return err
		}
		if f.form.list {
			list, _ := tree[f.name].([]any)
			tree[f.name] = append(list, read)
			return nil
		}
		if read == nil || f.optional && !f.pointer && isOmitted(read) {
			return nil
		}
		tree[f.name] = read
		return nil
	})
}

// readEntry decodes a map entry: a message with a key and a value.
func readEntry(tree map[string]any, f field, data []byte) error {
	entries, _ := tree[f.name].(map[string]any)
	if entries == nil {
		entries = map[string]any{}
		tree[f.name] = entries
	}
	entry, err := partsOf(data)
	if err != nil {
		return err
	}
	read, err := readValue(f.form.name, entry.last(2))
	if err == nil {
		entries[string(entry.last(1).bytes)] = read
	}
	return err
}

// wireParts are the values of a message by field number.
type wireParts map[protowire.Number][]wireValue

func partsOf(data []byte) (wireParts, error) {
	p := wireParts{}
	err := fields(data, func(number protowire.Number, value wireValue) error {
		p[number] = append(p[number], value)
		return nil
	})
	return p, err
}

// last returns the value of a field that is not repeated.
func (p wireParts) last(number protowire.Number) wireValue {
	values := p[number]
	if len(values) == 0 {
		return wireValue{}
	}
	return values[len(values)-1]
}

// isOmitted reports whether JSON omits a field with this value. It never omits a struct.
func isOmitted(value any) bool {
	switch value {
	case "", false, int64(0), float64(0):
		return true
	}
	return false
}

// readValue decodes one value. It returns nil for a value that JSON omits.
func readValue(form string, value wireValue) (any, error) {
	switch form {
	case "string":
		return string(value.bytes), nil
	case "int":
		return int64(value.number), nil
	case "bool":
		return value.number != 0, nil
	case "double":
		return math.Float64frombits(value.number), nil
	case "bytes":
		return base64.StdEncoding.EncodeToString(value.bytes), nil
	}
	if read, special := specials[form]; special {
		return read(value.bytes)
	}
	tree := map[string]any{}
	return tree, readMessage(tree, value.bytes, form)
}

// specials are the types whose JSON is not that of their fields.
var specials = map[string]func(data []byte) (any, error){
	"Time":      func(data []byte) (any, error) { return readTime(data, time.RFC3339) },
	"MicroTime": func(data []byte) (any, error) { return readTime(data, "2006-01-02T15:04:05.000000Z07:00") },
	"Duration": func(data []byte) (any, error) {
		p, err := partsOf(data)
		return time.Duration(p.last(1).number).String(), err
	},
	"Raw": readRaw,
	"Quantity": func(data []byte) (any, error) {
		text, err := first(data)
		return string(text), err
	},
	"IntOrString": readIntOrString,
	"Strings":     readStrings,
}

// readTime decodes a time. The zero time, which has no fields, is omitted.
func readTime(data []byte, layout string) (any, error) {
	p, err := partsOf(data)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return time.Unix(int64(p.last(1).number), int64(p.last(2).number)).UTC().Format(layout), nil
}

// readRaw decodes embedded JSON.
func readRaw(data []byte) (any, error) {
	raw, err := first(data)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	return decodeJSON(raw)
}

// first returns the bytes of field 1.
func first(data []byte) ([]byte, error) {
	p, err := partsOf(data)
	return p.last(1).bytes, err
}

func readIntOrString(data []byte) (any, error) {
	p, err := partsOf(data)
	if p.last(1).number == 1 {
		return string(p.last(3).bytes), err
	}
	return int64(int32(p.last(2).number)), err
}

func readStrings(data []byte) (any, error) {
	p, err := partsOf(data)
	list := []any{}
	for _, value := range p[1] {
		list = append(list, string(value.bytes))
	}
	return list, err
}
