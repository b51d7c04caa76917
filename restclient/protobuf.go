package restclient

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient/api"
)

// Kubernetes writes protobuf as an envelope with four magic bytes in front (API documentation: "Kubernetes Protobuf
// encoding"):
//
//	k 8 s \0   runtime.Unknown { 1: typeMeta { 1: apiVersion  2: kind }   2: the object   3: contentEncoding   4: contentType }
//
// The numbers of the fields of each message are from the generated.proto files of apimachinery.
const (
	protobufMediaType = "application/vnd.kubernetes.protobuf"
	protobufMagic     = "k8s\x00"
)

// isProtobuf tells whether the answer says that it is protobuf.
func isProtobuf(answer *http.Response) bool {
	return strings.HasPrefix(answer.Header.Get("Content-Type"), protobufMediaType)
}

var (
	errNoMagic         = errors.New("protobuf without the mark of Kubernetes at its beginning")
	errEncodedContent  = errors.New("protobuf in an encoding that nobody asked for")
	errKindAfterObject = errors.New("protobuf that names the kind of an object after the object")
)

// forEachField calls field for each field of a message: value holds the bytes of a field that has bytes, number that of
// one that is a number.
func forEachField(message []byte, field func(number protowire.Number, value []byte, n uint64) error) error {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		var value []byte
		var n uint64
		switch kind {
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(message)
		default:
			size = protowire.ConsumeFieldValue(number, kind, message)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		if err := field(number, value, n); err != nil {
			return err
		}
	}
	return nil
}

// openEnvelope takes a whole envelope apart.
func openEnvelope(data []byte) (kind api.TypeMeta, message []byte, err error) {
	data, ok := bytes.CutPrefix(data, []byte(protobufMagic))
	if !ok {
		return kind, nil, errNoMagic
	}
	err = forEachField(data, func(number protowire.Number, value []byte, _ uint64) (err error) {
		switch number {
		case 1:
			kind, err = readTypeMeta(value)
		case 2:
			message = value
		case 3:
			if len(value) > 0 {
				err = errEncodedContent
			}
		}
		return err
	})
	return kind, message, err
}

func readTypeMeta(message []byte) (kind api.TypeMeta, err error) {
	err = forEachField(message, func(number protowire.Number, value []byte, _ uint64) error {
		switch number {
		case 1:
			kind.APIVersion = string(value)
		case 2:
			kind.Kind = string(value)
		}
		return nil
	})
	if kind.Kind == partialKind {
		kind = partialTypeMeta
	}
	return kind, err
}

var partialTypeMeta = api.TypeMeta{Kind: partialKind, APIVersion: partialAPIVersion}

// decodeProtobuf reads a body that is one object.
func decodeProtobuf[T Object](data []byte, codec *codec[T]) (object T, err error) {
	reader := codec.open()
	if reader == nil {
		return object, errNotAsked
	}
	kind, message, err := openEnvelope(data)
	if err != nil {
		return object, err
	}
	if kind.Kind == "Status" {
		return object, errStatusForObject
	}
	return reader.readProtobuf(kind, message)
}

var errStatusForObject = errors.New("a Status where an object should be")

var errNotAsked = errors.New("an answer in protobuf to a request that did not ask for it")

func readListMeta(message []byte) (meta api.ListMeta, err error) {
	err = forEachField(message, func(number protowire.Number, value []byte, n uint64) error {
		switch number {
		case 2:
			meta.ResourceVersion = string(value)
		case 3:
			meta.Continue = string(value)
		case 4:
			meta.RemainingItemCount = new(int64(n))
		}
		return nil
	})
	return meta, err
}

// readStatus reads a Status.
func readStatus(kind api.TypeMeta, message []byte) (status api.Status, err error) {
	status.TypeMeta = kind
	err = forEachField(message, func(number protowire.Number, value []byte, n uint64) (err error) {
		switch number {
		case 1:
			status.ListMeta, err = readListMeta(value)
		case 2:
			status.Status = string(value)
		case 3:
			status.Message = string(value)
		case 4:
			status.Reason = api.StatusReason(value)
		case 5:
			status.Details, err = readStatusDetails(value)
		case 6:
			status.Code = int(int32(n))
		}
		return err
	})
	return status, err
}

func readStatusDetails(message []byte) (*api.StatusDetails, error) {
	details := &api.StatusDetails{}
	err := forEachField(message, func(number protowire.Number, value []byte, n uint64) error {
		switch number {
		case 1:
			details.Name = string(value)
		case 2:
			details.Group = string(value)
		case 3:
			details.Kind = string(value)
		case 4:
			cause, err := readStatusCause(value)
			details.Causes = append(details.Causes, cause)
			return err
		case 5:
			details.RetryAfterSeconds = int(int32(n))
		case 6:
			details.UID = string(value)
		}
		return nil
	})
	return details, err
}

func readStatusCause(message []byte) (cause api.StatusCause, err error) {
	err = forEachField(message, func(number protowire.Number, value []byte, _ uint64) error {
		switch number {
		case 1:
			cause.Type = api.CauseType(value)
		case 2:
			cause.Message = string(value)
		case 3:
			cause.Field = string(value)
		}
		return nil
	})
	return cause, err
}
