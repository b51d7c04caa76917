package e2e

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// fillBehindRelay creates a namespace with a few objects, and a kubeconfig file that reaches the
// same server as the same user through an active blocker before the namespace's ConfigMaps. The API
// server waits for a webhook for half a minute; this blocker can stay active for as long as the
// program waits.
func (tr *trial) fillBehindRelay(namespace, kubeconfig string) (through string, g blocker) {
	tr.t.Helper()
	tr.createFilledNamespace(namespace)
	b := newBarrier(tr)
	b.Block()
	tr.t.Cleanup(b.Release)
	heldBack := "/api/v1/namespaces/" + namespace + "/configmaps"
	return tr.relay(kubeconfig, func(r *http.Request) error {
		if r.Method != http.MethodDelete || !strings.HasPrefix(r.URL.Path, heldBack) {
			return nil
		}
		// Reading to the end lets the relay notice that the program has gone.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return b.pass(r.Context())
	}), b
}

// relay serves a kubeconfig's server to its user without credentials. It calls pass before each
// request and drops the request on an error. It returns a kubeconfig file that leads to it.
func (tr *trial) relay(kubeconfig string, pass func(*http.Request) error) string {
	tr.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(tr.t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(tr.t, err)
	server, err := url.Parse(config.Host)
	require.NoError(tr.t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(server) },
		Transport:     transport,
		FlushInterval: -1,                         // flushes each event of a watch
		ErrorLog:      log.New(io.Discard, "", 0), // abandoned requests are expected
	}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pass(r) != nil {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	tr.t.Cleanup(func() {
		relay.CloseClientConnections() // and with them requests in flight
		relay.Close()
	})
	path := filepath.Join(tr.t.TempDir(), "relay.kubeconfig")
	require.NoError(tr.t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"relay": {Server: relay.URL}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"relay": {}},
		Contexts:       map[string]*clientcmdapi.Context{"relay": {Cluster: "relay", AuthInfo: "relay"}},
		CurrentContext: "relay",
	}, path))
	return path
}
