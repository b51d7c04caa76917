package fast

import (
	"bytes"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient/api"
)

// Kubernetes writes protobuf as an envelope with four magic bytes in front (API documentation:
// "Kubernetes Protobuf encoding"):
//
//	k 8 s \0   runtime.Unknown { 1: typeMeta { 1: apiVersion  2: kind }   2: the object   3: contentEncoding   4: contentType }
//
// The numbers of the fields of each message are from the generated.proto files of apimachinery.
const (
	protobufMediaType = "application/vnd.kubernetes.protobuf"
	protobufMagic     = "k8s\x00"
)

var (
	errNoMagic         = errors.New("protobuf without the Kubernetes prefix")
	errEncodedContent  = errors.New("protobuf in a content encoding that was not requested")
	errKindAfterObject = errors.New("protobuf with the kind of an object after the object")
)

// openEnvelope parses an envelope.
func openEnvelope(data []byte) (kind api.TypeMeta, message []byte, err error) {
	data, ok := bytes.CutPrefix(data, []byte(protobufMagic))
	if !ok {
		return kind, nil, errNoMagic
	}
	f := fields{rest: data}
	for f.next() {
		switch f.number {
		case 1:
			if kind, err = readTypeMeta(f.value); err != nil {
				return kind, nil, err
			}
		case 2:
			message = f.value
		case 3:
			if len(f.value) > 0 {
				return kind, nil, errEncodedContent
			}
		}
	}
	return kind, message, f.err
}

func readTypeMeta(message []byte) (kind api.TypeMeta, err error) {
	err = readTexts(message, &kind.APIVersion, &kind.Kind)
	if kind == partialTypeMeta {
		kind = partialTypeMeta // shares the strings
	}
	return kind, err
}

// readTexts reads a message whose fields 1, 2, ... are texts.
func readTexts(message []byte, into ...*string) error {
	f := fields{rest: message}
	for f.next() {
		if n := int(f.number); n <= len(into) {
			*into[n-1] = string(f.value)
		}
	}
	return f.err
}

// The kind of metadata-only objects.
const (
	partialKind       = "PartialObjectMetadata"
	partialAPIVersion = "meta.k8s.io/v1"
)

var partialTypeMeta = api.TypeMeta{Kind: partialKind, APIVersion: partialAPIVersion}

// decodeProtobuf decodes a body that is one object.
func decodeProtobuf(data []byte) (*partial, error) {
	kind, message, err := openEnvelope(data)
	if err != nil {
		return nil, err
	}
	if kind.Kind == "Status" {
		return nil, errStatusForObject
	}
	return (&metadataReader{}).readProtobuf(kind, message)
}

var errStatusForObject = errors.New("a Status where an object should be")

func readListMeta(message []byte) (meta api.ListMeta, err error) {
	f := fields{rest: message}
	for f.next() {
		switch f.number {
		case 2:
			meta.ResourceVersion = string(f.value)
		case 3:
			meta.Continue = string(f.value)
		case 4:
			meta.RemainingItemCount = new(int64(f.n))
		}
	}
	return meta, f.err
}

// readStatus reads a Status.
func readStatus(kind api.TypeMeta, message []byte) (status api.Status, err error) {
	status.TypeMeta = kind
	f := fields{rest: message}
	for err == nil && f.next() {
		switch f.number {
		case 1:
			status.ListMeta, err = readListMeta(f.value)
		case 2:
			status.Status = string(f.value)
		case 3:
			status.Message = string(f.value)
		case 4:
			status.Reason = api.StatusReason(f.value)
		case 5:
			status.Details, err = readStatusDetails(f.value)
		case 6:
			status.Code = int(int32(f.n))
		}
	}
	status.Shorten()
	return status, errors.Join(err, f.err)
}

func readStatusDetails(message []byte) (*api.StatusDetails, error) {
	details := &api.StatusDetails{}
	f := fields{rest: message}
	for f.next() {
		switch f.number {
		case 1:
			details.Name = string(f.value)
		case 2:
			details.Group = string(f.value)
		case 3:
			details.Kind = string(f.value)
		case 4:
			var cause api.StatusCause
			if err := readTexts(f.value, (*string)(&cause.Type), &cause.Message, &cause.Field); err != nil {
				return details, err
			}
			details.Causes = append(details.Causes, cause)
		case 5:
			details.RetryAfterSeconds = int(int32(f.n))
		case 6:
			details.UID = string(f.value)
		}
	}
	return details, f.err
}

// fields iterates over the fields of a message:
//
//	f := fields{rest: message}
//	for f.next() {
//		switch f.number { ... f.value ... f.n }
//	}
//	return f.err
type fields struct {
	// The current field: value is its bytes, n its number.
	number protowire.Number
	value  []byte
	n      uint64

	rest []byte // not read yet
	err  error  // a parse error that ended the iteration
}

// next moves to the next field, and reports whether there is one.
func (f *fields) next() bool {
	// The common case first: a tag and a length of one byte each.
	if len(f.rest) >= 2 && f.rest[0] < 0x80 && f.rest[0]&7 == byte(protowire.BytesType) && f.rest[0] >= 1<<3 && f.rest[1] < 0x80 {
		if end := 2 + int(f.rest[1]); end <= len(f.rest) {
			f.number, f.value, f.n = protowire.Number(f.rest[0]>>3), f.rest[2:end:end], 0
			f.rest = f.rest[end:]
			return true
		}
	}
	return f.nextOfAnyKind()
}

func (f *fields) nextOfAnyKind() bool {
	if len(f.rest) == 0 {
		return false
	}
	number, kind, size := protowire.ConsumeTag(f.rest)
	if size < 0 {
		f.err = protowire.ParseError(size)
		return false
	}
	rest := f.rest[size:]
	f.number, f.value, f.n = number, nil, 0
	switch kind {
	case protowire.BytesType:
		f.value, size = protowire.ConsumeBytes(rest)
	case protowire.VarintType:
		f.n, size = protowire.ConsumeVarint(rest)
	default:
		size = protowire.ConsumeFieldValue(number, kind, rest)
	}
	if size < 0 {
		f.err = protowire.ParseError(size)
		return false
	}
	f.rest = rest[size:]
	return true
}

// row advances over consecutive fields with the number of the current one and returns their bytes.
// before begins with the current field.
func (f *fields) row(before []byte) []byte {
	number := f.number
	for {
		rest := f.rest
		if !f.next() || f.number != number {
			f.rest, f.err = rest, nil // a parse error is reported when that field is reached
			return before[:len(before)-len(rest)]
		}
	}
}
