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
func (Codec) Object(contentType string, body []byte) (*partial, error) {
	if err := restclient.RequireJSON(contentType); err != nil {
		return nil, err
	}
	return new(metadataReader).decode(body)
}

// List decodes a list item by item while it arrives.
func (Codec) List(contentType string, body io.Reader, limit int) (*api.List[*partial], error) {
	if err := restclient.RequireJSON(contentType); err != nil {
		return nil, err
	}
	d := listDecoder{stream: newStream(body, limit, "an item of the list")}
	return d.decode()
}

// Events returns a decoder of the events of a watch.
func (Codec) Events(contentType string, body io.Reader, limit int) (restclient.EventDecoder[*partial], error) {
	if err := restclient.RequireJSON(contentType); err != nil {
		return nil, err
	}
	return newEventDecoder(body, limit), nil
}
