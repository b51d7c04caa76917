package restclient_test

import (
	"io"
	"testing"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

func TestContract(t *testing.T) {
	restclienttest.RunEvents(t, func(body io.Reader, limit int) (restclient.EventDecoder[*api.PartialObjectMetadata], error) {
		return restclient.PlainCodec().Events("application/json", body, limit)
	})
}
