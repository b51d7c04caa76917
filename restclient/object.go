package restclient

import (
	"bytes"
	"encoding/json"
	"errors"

	"orrery/restclient/api"
)

// Object is what a Resource holds: anything with the head that Kubernetes objects have.
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// codec says how a kind of Resource asks for objects and reads them.
type codec[T Object] struct {
	// accept is the Accept header of requests for an object and for a watch, acceptList that of requests for a list,
	// acceptJSON that of a watch that cannot be anything else.
	accept, acceptList, acceptJSON string
	// decode reads one object. data is only valid during the call.
	decode func(data []byte) (T, error)
	// newReader makes what reads the objects of a list or a watch. Nil: decode reads each by itself, from JSON.
	newReader func() reader[T]
	// adopt gives an item of a list the kind that only the list carries. Nil: not needed.
	adopt func(item T, list api.TypeMeta)
	// readOnly objects are not whole: writing them back would drop the rest.
	readOnly bool
}

// open returns the reader for a list or a watch; nil if there is none.
func (c *codec[T]) open() reader[T] {
	if c.newReader == nil {
		return nil
	}
	return c.newReader()
}

// The kind of heads.
const (
	partialKind       = "PartialObjectMetadata"
	partialAPIVersion = "meta.k8s.io/v1"
)

// Media types for the heads of objects alone; a server that does not know them answers with the whole objects, of which
// the same heads are read. Those with protobuf are what client-go's client for metadata sends.
const (
	partialMediaType     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	partialListMediaType = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

	partialProtobuf     = protobufMediaType + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + partialMediaType
	partialListProtobuf = protobufMediaType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + partialListMediaType
)

func typedCodec[T Object]() codec[T] {
	return codec[T]{accept: jsonMediaType, acceptList: jsonMediaType, acceptJSON: jsonMediaType, decode: decodeJSON[T]}
}

func metadataCodec(jsonOnly bool) codec[*api.PartialObjectMetadata] {
	c := codec[*api.PartialObjectMetadata]{
		accept: partialProtobuf, acceptList: partialListProtobuf, acceptJSON: partialMediaType,
		decode:    decodeHead,
		newReader: func() reader[*api.PartialObjectMetadata] { return &headReader{} },
		readOnly:  true,
	}
	if jsonOnly {
		c.accept, c.acceptList = partialMediaType, partialListMediaType
	}
	return c
}

func dynamicCodec() codec[*api.Unstructured] {
	c := typedCodec[*api.Unstructured]()
	c.decode = decodeUnstructured
	c.adopt = adoptUnstructured
	return c
}

// decodeUnstructured spares the pass over the bytes that encoding/json makes before it calls UnmarshalJSON.
func decodeUnstructured(data []byte) (*api.Unstructured, error) {
	if isNull(data) {
		return nil, errNullObject
	}
	object := &api.Unstructured{}
	return object, object.UnmarshalJSON(data)
}

var errNullObject = errors.New("null where an object should be")

func decodeJSON[T any](data []byte) (T, error) {
	var object T
	if isNull(data) {
		return object, errNullObject
	}
	err := json.Unmarshal(data, &object)
	return object, err
}

func isNull(data []byte) bool { return string(bytes.TrimSpace(data)) == "null" }
