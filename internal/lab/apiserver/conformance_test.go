package apiserver_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/apiservertest"
)

// The answers are those of kube-apiserver, except for the listed gaps.
func TestAnswersAsKubeAPIServer(t *testing.T) {
	apiservertest.Run(t, conformanceTarget, false)
}

// conformanceTarget starts a server like the control plane of the recordings: without a kubelet,
// with a garbage collector.
func conformanceTarget(t *testing.T) apiservertest.Target {
	server, err := apiserver.New(apiserver.Config{NoKubelet: true})
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

// withToken adds a bearer token to requests without one.
type withToken struct {
	token string
	next  http.RoundTripper
}

func (w withToken) RoundTrip(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+w.token)
	return w.next.RoundTrip(request)
}
