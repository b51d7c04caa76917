package fast

import (
	"io"
	"testing"

	"orrery/restclient"
	"orrery/restclient/restclienttest"
)

func TestContract(t *testing.T) {
	restclienttest.RunEvents(t, func(body io.Reader, limit int) (restclient.EventDecoder[*partial], error) {
		return Codec{}.Events("application/json", body, limit)
	})
}
