package restclient

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

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

// openEnvelope takes a whole envelope apart.
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
	f := fields{rest: message}
	for f.next() {
		switch f.number {
		case 1:
			kind.APIVersion = string(f.value)
		case 2:
			kind.Kind = string(f.value)
		}
	}
	if kind.Kind == partialKind {
		kind = partialTypeMeta
	}
	return kind, f.err
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
			cause, err := readStatusCause(f.value)
			if err != nil {
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

func readStatusCause(message []byte) (cause api.StatusCause, err error) {
	f := fields{rest: message}
	for f.next() {
		switch f.number {
		case 1:
			cause.Type = api.CauseType(f.value)
		case 2:
			cause.Message = string(f.value)
		case 3:
			cause.Field = string(f.value)
		}
	}
	return cause, f.err
}
