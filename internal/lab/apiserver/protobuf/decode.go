package protobuf

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// MediaType is the content type of bodies in protobuf.
const MediaType = "application/vnd.kubernetes.protobuf"

// magic begins every body.
var magic = []byte("k8s\x00")

// Object is what is in a body.
type Object struct {
	// Kind and APIVersion are what the envelope says.
	Kind, APIVersion string
	// Tree is the object, without kind and apiVersion.
	Tree map[string]any
}

// KindError says that nothing is known about the objects of a kind.
type KindError struct{ Kind, APIVersion string }

func (e *KindError) Error() string {
	return fmt.Sprintf("no kind %q is registered for version %q", e.Kind, e.APIVersion)
}

var (
	errNoMagic  = errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	errTooDeep  = errors.New("proto: exceeded max depth")
	errEncoding = errors.New("content encoding inside the envelope is not supported")
)

// Decode reads a body.
func Decode(data []byte) (Object, error) {
	rest, ok := bytes.CutPrefix(data, magic)
	if !ok {
		return Object{}, errNoMagic
	}
	var object Object
	var raw []byte
	err := fields(rest, func(number protowire.Number, value wireValue) error {
		switch number {
		case 1:
			return object.readType(value.bytes)
		case 2:
			raw = value.bytes
		case 3:
			if len(value.bytes) > 0 {
				return errEncoding
			}
		}
		return nil
	})
	if err != nil {
		return Object{}, err
	}
	name, ok := known().kinds[[2]string{object.APIVersion, object.Kind}]
	if !ok {
		return object, &KindError{Kind: object.Kind, APIVersion: object.APIVersion}
	}
	object.Tree = map[string]any{}
	return object, readMessage(object.Tree, raw, name, 0)
}

// readType reads what the envelope says about its content.
func (o *Object) readType(data []byte) error {
	return fields(data, func(number protowire.Number, value wireValue) error {
		switch number {
		case 1:
			o.APIVersion = string(value.bytes)
		case 2:
			o.Kind = string(value.bytes)
		}
		return nil
	})
}

// wireValue is a value as it travels: a number or bytes, depending on the field.
type wireValue struct {
	number uint64
	bytes  []byte
}

// fields calls a function with each field of a message.
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
