package restclient_test

import (
	"testing"

	"orrery/restclient"
	"orrery/restclient/restclienttest"
)

func TestContract(t *testing.T) { restclienttest.RunEvents(t, restclient.PlainCodec().Events) }
