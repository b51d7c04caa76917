package apiserver_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/apiservertest"
)

// What this server answers is what kube-apiserver answers, request for request, but for the gaps that are listed.
func TestAnswersAsKubeAPIServer(t *testing.T) {
	apiservertest.Run(t, conformanceTarget, apiservertest.Gaps())
}

// conformanceTarget starts a server as bare as the control plane of the recordings: nobody schedules or runs pods, and
// owner references are looked after.
func conformanceTarget(t *testing.T) apiservertest.Target {
	server, err := apiserver.New(apiserver.Config{NoKubelet: true, Anonymous: true})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	anonymous := &http.Transport{}
	t.Cleanup(anonymous.CloseIdleConnections)
	return apiservertest.Target{
		URL:       server.URL(),
		Transport: withToken{token: server.Token(), next: anonymous},
		Anonymous: anonymous,
	}
}

// withToken adds a bearer token to requests that have none.
type withToken struct {
	token string
	next  http.RoundTripper
}

func (w withToken) RoundTrip(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+w.token)
	return w.next.RoundTrip(request)
}
