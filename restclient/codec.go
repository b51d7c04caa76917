package restclient

import (
	"io"

	"orrery/restclient/api"
)

// Object is an object of a Resource: any type with the metadata of a Kubernetes object.
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// Decoder decodes the answers of a [Resource] with objects of type T. It is safe for concurrent
// use.
//
// limit is the greatest size in bytes of one event or one item; a larger one is a [*TooLargeError].
// A body that ends inside a value is io.ErrUnexpectedEOF. Errors of reading from body are returned
// as they are, or wrapped.
type Decoder[T Object] interface {
	// Accept returns the Accept headers of requests.
	Accept() Accept
	// Object decodes a body that is one object. The result does not refer to body.
	Object(body []byte) (T, error)
	// List decodes a list. A Status in its place is an [*api.StatusError] if it
	// reports failure, and a nil list if it reports success.
	List(body io.Reader, limit int) (*api.List[T], error)
	// Events returns a decoder of the events of a watch.
	Events(body io.Reader, limit int) EventDecoder[T]
}

// EventDecoder decodes the events of one watch. It is for one goroutine.
type EventDecoder[T Object] interface {
	// Next returns the next event and its size in bytes. Its error is io.EOF if the body ends
	// between two events.
	Next() (event api.WatchEvent[T], size int, err error)
}

// Accept holds the Accept headers for the formats of a decoder.
type Accept struct {
	Object string // one object, or a watch
	List   string
}

// Codec is a [Decoder] for Metadata resources, see Config.Codec: [PlainCodec], or fast.Codec of
// package restclient/fast.
type Codec interface {
	Decoder[*api.PartialObjectMetadata]
}

// Media types for metadata only. A server that does not know them returns whole objects, of which
// the rest is dropped.
const (
	PartialMediaType     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	PartialListMediaType = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

var jsonAccept = Accept{Object: jsonMediaType, List: jsonMediaType}

// PlainCodec returns the textbook codec, which uses encoding/json like the decoder of every other
// resource.
func PlainCodec() Codec {
	return &plainDecoder[*api.PartialObjectMetadata]{
		accept:   Accept{Object: PartialMediaType, List: PartialListMediaType},
		complete: dropManagedFields,
	}
}
