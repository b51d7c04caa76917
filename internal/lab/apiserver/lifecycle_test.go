package apiserver_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
	"orrery/restclient/restclienttest"
)

// started returns a server on a socket. After the test it is stopped and must leave nothing behind.
func started(t *testing.T, config apiserver.Config) *apiserver.Server {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	server, err := apiserver.New(config)
	require.NoError(t, err)
	t.Cleanup(func() { server.Stop(context.Background()) })
	require.NoError(t, server.Start(t.Context()))
	return server
}

// The server's kubeconfig is all that a client needs, whatever the transport.
func TestAKubeconfigIsEnough(t *testing.T) {
	for _, encrypted := range []bool{true, false} {
		t.Run(fmt.Sprint("tls ", encrypted), func(t *testing.T) {
			server := started(t, apiserver.Config{TLS: encrypted})
			path := filepath.Join(t.TempDir(), "sub", "kubeconfig")
			require.NoError(t, server.WriteKubeconfig(path))
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode())
			written, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, server.Kubeconfig(), written)

			config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
			require.NoError(t, err)
			for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
				config.WatchTransport = transport
				client, err := restclient.New(config)
				require.NoError(t, err)
				namespaces := restclient.Metadata(client, api.NamespacesResource, "")
				list, err := namespaces.List(t.Context(), api.ListOptions{})
				require.NoError(t, err)
				assert.Len(t, list.Items, 4)
				watch, err := namespaces.Watch(t.Context(), api.ListOptions{})
				require.NoError(t, err)
				_, err = watch.Next()
				require.NoError(t, err)
				watch.Stop()
				client.Close()
			}
		})
	}
}

func TestHTTP2AndClientCertificates(t *testing.T) {
	server := started(t, apiserver.Config{TLS: true})
	written, err := kubeconfig.Parse(server.Kubeconfig(), "")
	require.NoError(t, err)
	user := written.Users[written.CurrentContext]
	administrator, err := tls.X509KeyPair(user.ClientCertificateData, user.ClientKeyData)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(server.CertificateAuthority()))
	token := ""
	ask := func(certificates ...tls.Certificate) (*http.Response, string) {
		transport := &http.Transport{ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates, ServerName: "kubernetes"}}
		defer transport.CloseIdleConnections()
		client := http.Client{Transport: transport}
		const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
		request, err := http.NewRequest("POST", server.URL()+path, strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}
		response, err := client.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response, string(data)
	}
	known, body := ask(administrator)
	assert.Equal(t, 201, known.StatusCode)
	assert.Equal(t, 2, known.ProtoMajor)
	assert.Contains(t, body, `"groups":["system:masters","system:authenticated"],"username":"kubernetes-admin"`)
	unknown := *restclienttest.NewAuthority(t).Issue(t, restclienttest.Leaf{Name: "joe"})
	stranger, _ := ask(unknown)
	assert.Equal(t, 401, stranger.StatusCode)
	anonymous, _ := ask()
	assert.Equal(t, 401, anonymous.StatusCode)
	token = "wrong"
	known, _ = ask(administrator)
	assert.Equal(t, 201, known.StatusCode, "a valid certificate takes precedence over a token")
	token = server.Token()
	known, _ = ask(unknown)
	assert.Equal(t, 201, known.StatusCode, "a valid token counts beside an invalid certificate")
}

func TestAddressInUse(t *testing.T) {
	first := started(t, apiserver.Config{})
	second, err := apiserver.New(apiserver.Config{Listen: strings.TrimPrefix(first.URL(), "http://")})
	require.NoError(t, err)
	err = second.Start(t.Context())
	var failed *net.OpError
	require.ErrorAs(t, err, &failed)
	assert.ErrorIs(t, err, syscall.EADDRINUSE)
	require.NoError(t, second.Stop(t.Context()))
	require.NoError(t, second.Stop(t.Context()), "again")
	late, err := apiserver.New(apiserver.Config{})
	require.NoError(t, err)
	require.NoError(t, late.Stop(t.Context()))
	assert.ErrorIs(t, late.Start(t.Context()), http.ErrServerClosed)
}

// Stop waits for requests, but aborts them when its context ends.
func TestStopAbortsRequestsThatDoNotEnd(t *testing.T) {
	server := started(t, apiserver.Config{Unprotected: true})
	conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn,
		"POST "+configMaps+" HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: "+
			"application/json\r\nContent-Length: 100\r\n\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue", "the server waits for the body")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, server.Stop(ctx), context.DeadlineExceeded)
}

// Subresources of a program that runs, or of a certificate that is issued, are announced and
// refused.
func TestPartsThatAreSimulated(t *testing.T) {
	const merge, requests = "application/merge-patch+json", "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", pods, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		p.must(201, "POST", requests, `{"metadata":{"name":"r"},
			"spec":{"request":"YQ==","signerName":"a.b/c","usages":["any"]}}`)
		exec := p.must(503, "POST", pods+"/a/exec?command=ls", "")
		assert.Equal(t, "pod a is simulated and has no exec", exec.message(t))
		parts := []string{pods + "/a/resize", pods + "/a/ephemeralcontainers", requests + "/r/approval"}
		for _, part := range parts {
			p.must(503, "PATCH", part, `{}`, "Content-Type", merge)
		}
		p.must(404, "POST", pods+"/b/exec?command=ls", "")
	})
}
