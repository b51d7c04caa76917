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

// fillBehindRelay creates a namespace with a few objects, and a kubeconfig file that leads where the given one does, as the same
// user, through a shut gate before the namespace's ConfigMaps. Unlike a webhook, which the API server asks for half a minute at
// most, that gate can be shut for as long as the program waits for an answer.
func (tr *trial) fillBehindRelay(namespace, kubeconfig string) (through string, g gate) {
	tr.t.Helper()
	tr.createFilledNamespace(namespace)
	b := newBarrier(tr)
	b.Shut()
	tr.t.Cleanup(b.Open)
	heldBack := "/api/v1/namespaces/" + namespace + "/configmaps"
	return tr.relay(kubeconfig, func(r *http.Request) error {
		if r.Method != http.MethodDelete || !strings.HasPrefix(r.URL.Path, heldBack) {
			return nil
		}
		// Read to its end, so that it is noticed when the program goes away.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return b.pass(r.Context())
	}), b
}

// relay serves, without credentials, what the server that a kubeconfig file leads to serves its user. Each request has to pass
// first, and is dropped if there is an error. It returns a kubeconfig file that leads to it.
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
		FlushInterval: -1,                         // the events of watches pass as they come
		ErrorLog:      log.New(io.Discard, "", 0), // that requests are given up is no news
	}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pass(r) != nil {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	tr.t.Cleanup(func() {
		relay.CloseClientConnections() // and with them what is under way
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
