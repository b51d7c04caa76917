package restclient_test

import (
	"testing"

	"orrery/internal/hooks/hookstest"
	"orrery/restclient"
)

func TestJoinTraces(t *testing.T) { hookstest.Run(t, restclient.JoinTraces) }
