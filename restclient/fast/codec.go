package fast

import (
	"io"

	"orrery/restclient"
	"orrery/restclient/api"
)

type (
	partial = api.PartialObjectMetadata
	event   = api.WatchEvent[*partial]
)

// Codec is a restclient.Codec: it decodes the answers of Metadata resources in one pass. The zero
// value is ready to use.
type Codec struct{}

var _ restclient.Codec = Codec{}

// Accept returns the headers that restclient.PlainCodec returns.
func (Codec) Accept() restclient.Accept {
	return restclient.Accept{Object: restclient.PartialMediaType, List: restclient.PartialListMediaType}
}

// Object decodes the metadata of one object.
func (Codec) Object(body []byte) (*partial, error) {
	return new(metadataReader).decode(body)
}

// List decodes a list item by item while it arrives.
func (Codec) List(body io.Reader, limit int) (*api.List[*partial], error) {
	d := listDecoder{stream: newStream(body, limit, "an item of the list")}
	return d.decode()
}

// Events returns a decoder of the events of a watch.
func (Codec) Events(body io.Reader, limit int) restclient.EventDecoder[*partial] {
	return newEventDecoder(body, limit)
}
