package fast

import (
	"io"
	"strings"

	"orrery/restclient"
	"orrery/restclient/api"
)

type (
	partial = api.PartialObjectMetadata
	event   = api.WatchEvent[*partial]
)

// Codec is a restclient.Codec: it decodes the answers of Metadata resources in one pass. The zero
// value prefers protobuf and accepts JSON; the content type of the answer decides.
type Codec struct {
	// JSON requests JSON only, so that traffic is readable.
	JSON bool

	items restclient.ItemLimit
}

var _ restclient.Codec = Codec{}

const (
	partialProtobuf     = protobufMediaType + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + restclient.PartialMediaType
	partialListProtobuf = protobufMediaType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + restclient.PartialListMediaType
)

// Accept returns the headers that client-go's metadata client sends.
func (c Codec) Accept() restclient.Accept {
	accept := restclient.Accept{Object: partialProtobuf, List: partialListProtobuf, WebSocket: restclient.PartialMediaType}
	if c.JSON {
		accept.Object, accept.List = restclient.PartialMediaType, restclient.PartialListMediaType
	}
	return accept
}

// AtMost returns the codec with a limit for the number of items of one list.
func (c Codec) AtMost(items int) restclient.Codec {
	c.items = restclient.ItemLimit(items)
	return c
}

// Object decodes the metadata of one object.
func (Codec) Object(contentType string, body []byte) (*partial, error) {
	if isProtobuf(contentType) {
		return decodeProtobuf(body)
	}
	return new(metadataReader).decode(body)
}

// List decodes a list item by item while it arrives.
func (c Codec) List(contentType string, body io.Reader, limit int) (*api.List[*partial], error) {
	d := listDecoder{stream: newStream(body, limit, "an item of the list"), limit: c.items}
	if isProtobuf(contentType) {
		return d.decodeProtobuf()
	}
	return d.decode()
}

// Events returns a decoder of the events of a watch.
func (Codec) Events(contentType string, body io.Reader, limit int) (restclient.EventDecoder[*partial], error) {
	return newEventDecoder(body, limit, isProtobuf(contentType)), nil
}

// Status decodes a Status in protobuf.
func (Codec) Status(body []byte) (status api.Status, ok bool) {
	kind, message, err := openEnvelope(body)
	if err != nil || kind.Kind != "Status" {
		return status, false
	}
	status, err = readStatus(kind, message)
	return status, err == nil
}

func isProtobuf(contentType string) bool { return strings.HasPrefix(contentType, protobufMediaType) }
