package resources

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient/api"
)

// ProtobufType is the content type of protobuf bodies.
const ProtobufType = "application/vnd.kubernetes.protobuf"

// magic is the prefix of every body.
var magic = []byte("k8s\x00")

var (
	errNoMagic  = errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	errEncoding = errors.New("content encoding inside the envelope is not supported")
)

// DecodeProtobuf decodes a body as the JSON of the same object would be: empty fields that Go
// omits are omitted, and unknown fields are skipped. A CustomResourceDefinition, which all clients
// send in JSON, is an unknown kind. Nothing encodes protobuf: kubectl create and the typed clients
// of client-go send it without asking, but accept JSON in return.
//
// A body has a magic prefix and an envelope with the kind and the message. messages.txt, recorded
// from the Go types of Kubernetes, names the fields by number.
func DecodeProtobuf(data []byte) (*api.Unstructured, error) {
	rest, ok := bytes.CutPrefix(data, magic)
	if !ok {
		return nil, errNoMagic
	}
	envelope, err := partsOf(rest)
	if err != nil {
		return nil, err
	}
	typeMeta, err := partsOf(envelope.last(1).bytes)
	switch {
	case err != nil:
		return nil, err
	case len(envelope.last(3).bytes) > 0:
		return nil, errEncoding
	}
	apiVersion, kind := string(typeMeta.last(1).bytes), string(typeMeta.last(2).bytes)
	name, ok := known().kinds[[2]string{apiVersion, kind}]
	if kind == "DeleteOptions" { // registered in every group version, and typed clients send their own
		name, ok = known().kinds[[2]string{"v1", kind}]
	}
	if !ok {
		return nil, fmt.Errorf("no kind %q is registered for version %q", kind, apiVersion)
	}
	tree := map[string]any{}
	err = readMessage(tree, envelope.last(2).bytes, name)
	tree["kind"], tree["apiVersion"] = kind, apiVersion
	return &api.Unstructured{Object: tree}, err
}

// wireValue is an encoded value: a number or bytes, depending on the field.
type wireValue struct {
	number uint64
	bytes  []byte
}

// fields calls each for every field of a message.
func fields(data []byte, each func(protowire.Number, wireValue) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		var value wireValue
		switch kind {
		case protowire.VarintType:
			value.number, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			value.bytes, n = protowire.ConsumeBytes(data)
		default:
			n = protowire.ConsumeFieldValue(number, kind, data)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if err := each(number, value); err != nil {
			return err
		}
	}
	return nil
}

//go:embed messages.txt
var messagesText string

// message describes a type of message: its fields by number.
type message map[protowire.Number]field

// field describes a field of a message.
type field struct {
	// name is the name in JSON, or "-" for an embedded message.
	name string
	// optional fields are omitted if empty, unless they are pointers.
	optional, pointer bool
	form              form
}

// form is the type of a value.
type form struct {
	// name is a basic type, a special type, or the name of a message.
	name string
	// list and mapped report that the field is repeated or a map.
	list, mapped bool
}

// types are all messages and the message of each kind.
type types struct {
	messages map[string]message
	kinds    map[[2]string]string // apiVersion and kind
}

// known returns the types in messages.txt.
var known = sync.OnceValue(func() types { return parseTypes(messagesText) })

// parseTypes parses messages.txt.
func parseTypes(text string) types {
	all := types{messages: map[string]message{}, kinds: map[[2]string]string{}}
	var current message
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "kind":
			all.kinds[[2]string{words[1], words[2]}] = words[3]
		case words[0] == "message":
			current = message{}
			all.messages[words[1]] = current
		default:
			number, err := strconv.Atoi(words[0])
			if err != nil {
				panic("messages.txt: " + line)
			}
			current[protowire.Number(number)] = parseMessageField(words[1], words[2], words[3])
		}
	}
	return all
}

func parseMessageField(name, flags, form string) field {
	f := field{name: name, optional: strings.Contains(flags, "o"), pointer: strings.Contains(flags, "p")}
	if element, ok := strings.CutPrefix(form, "[]"); ok {
		f.form.list, form = true, element
	}
	if element, ok := strings.CutPrefix(form, "map:"); ok {
		f.form.mapped, form = true, element
	}
	f.form.name = form
	return f
}

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
	case "", false, int64(0):
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
	"Raw":       readRaw,
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
