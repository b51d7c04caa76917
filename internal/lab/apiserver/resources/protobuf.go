package resources

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

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
		case protowire.Fixed64Type:
			value.number, n = protowire.ConsumeFixed64(data)
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
