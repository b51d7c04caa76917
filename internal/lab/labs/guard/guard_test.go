package guard_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/labs/guard"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// TestMain checks that no goroutine is left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var configMaps = api.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func load(t *testing.T, file string, transport restclient.WatchTransport) *restclient.Client {
	t.Helper()
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: file})
	require.NoError(t, err)
	config.WatchTransport, config.MaxRetries = transport, -1
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// start starts a server with a namespace of this run and one of others, and the proxy.
func start(t *testing.T, transport restclient.WatchTransport) (direct, through *restclient.Client, proxy *guard.Proxy) {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{TLS: true, NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(file))
	direct = load(t, file, restclient.WatchHTTP)
	proxy, err = guard.Start(direct)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	file = filepath.Join(t.TempDir(), "guarded")
	require.NoError(t, proxy.WriteKubeconfig(file))
	for _, name := range []string{"lab-1", "others"} {
		create(t, direct, api.NamespacesResource, "", "Namespace", name)
		create(t, direct, configMaps, name, "ConfigMap", "a")
	}
	proxy.Allow("lab-1")
	return direct, load(t, file, transport), proxy
}

func create(t *testing.T, client *restclient.Client, resource api.GroupVersionResource, namespace, kind, name string) {
	t.Helper()
	object := &api.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}
	_, err := restclient.Dynamic(client, resource, namespace).Create(t.Context(), object, api.UpdateOptions{})
	require.NoError(t, err)
}

func TestWritesPassToNamespacesOfTheRunAlone(t *testing.T) {
	direct, through, proxy := start(t, restclient.WatchHTTP)
	require.NoError(t, restclient.Dynamic(through, configMaps, "lab-1").Delete(t.Context(), "a", api.DeleteOptions{}))
	err := restclient.Dynamic(through, configMaps, "others").Delete(t.Context(), "a", api.DeleteOptions{})
	assert.True(t, api.IsForbidden(err), err)
	const line = "DELETE /api/v1/namespaces/others/configmaps/a: this run did not create the namespace others"
	assert.ErrorContains(t, err, "lab run refuses "+line)
	assert.Equal(t, []string{line}, proxy.Refused())
	for namespace, want := range map[string]int{"lab-1": 0, "others": 1} {
		list, err := restclient.Dynamic(direct, configMaps, namespace).List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, want, namespace)
	}
}

func TestTheProxyKnowsWhatWasFinalizedThroughIt(t *testing.T) {
	direct, through, proxy := start(t, restclient.WatchHTTP)
	create(t, direct, api.NamespacesResource, "", "Namespace", "lab-2")
	proxy.Allow("lab-2")
	for name, by := range map[string]*restclient.Client{"lab-1": through, "lab-2": direct} {
		namespaces := restclient.Typed[*api.Namespace](by, api.NamespacesResource, "")
		require.NoError(t, namespaces.Delete(t.Context(), name, api.DeleteOptions{}))
		namespace, err := namespaces.Get(t.Context(), name, api.GetOptions{})
		require.NoError(t, err)
		namespace.Spec.Finalizers = nil
		_, err = namespaces.UpdateSubresource(t.Context(), name, "finalize", namespace, api.UpdateOptions{})
		require.NoError(t, err)
	}
	assert.Equal(t, map[string]bool{"lab-1": true, "lab-2": false}, proxy.Namespaces())
}

// A namespace is not finalized by an update of it, and not by a request that the server refuses.
func TestTheProxyKnowsWhatWasNotFinalized(t *testing.T) {
	_, through, proxy := start(t, restclient.WatchHTTP)
	namespaces := restclient.Typed[*api.Namespace](through, api.NamespacesResource, "")
	namespace, err := namespaces.Get(t.Context(), "lab-1", api.GetOptions{})
	require.NoError(t, err)
	_, err = namespaces.Update(t.Context(), namespace, api.UpdateOptions{})
	require.NoError(t, err)
	assert.False(t, proxy.Namespaces()["lab-1"], "an update of the namespace finalizes nothing")
	namespace.ResourceVersion = "1"
	_, err = namespaces.UpdateSubresource(t.Context(), "lab-1", "finalize", namespace, api.UpdateOptions{})
	require.True(t, api.IsConflict(err), err)
	assert.False(t, proxy.Namespaces()["lab-1"], "a refused request finalizes nothing")
}

func TestWatchesPass(t *testing.T) {
	for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
		t.Run(string(transport), func(t *testing.T) {
			direct, through, _ := start(t, transport)
			everywhere := restclient.Dynamic(through, configMaps, "")
			list, err := everywhere.List(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			watch, err := everywhere.Watch(t.Context(), api.ListOptions{ResourceVersion: list.ResourceVersion})
			require.NoError(t, err)
			defer watch.Stop()
			for _, name := range []string{"b", "c"} {
				create(t, direct, configMaps, "others", "ConfigMap", name)
				event, err := watch.Next()
				require.NoError(t, err)
				assert.Equal(t, name, event.Object.GetName())
			}
		})
	}
}

func TestOthersHaveNoAccess(t *testing.T) {
	_, through, proxy := start(t, restclient.WatchHTTP)
	config := through.Config()
	config.Credentials = nil
	anonymous, err := restclient.New(config)
	require.NoError(t, err)
	defer anonymous.Close()
	err = anonymous.Do(t.Context(), restclient.Request{Path: "/version"}, nil)
	assert.True(t, api.IsUnauthorized(err), err)

	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, proxy.WriteKubeconfig(file))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// A request with a header of the front proxy of the API server has the user's own name there.
func TestOnlyKnownHeadersPass(t *testing.T) {
	_, through, _ := start(t, restclient.WatchHTTP)
	var review struct {
		Status struct {
			UserInfo struct{ Username string }
		}
	}
	err := through.Do(t.Context(), restclient.Request{
		Verb: http.MethodPost, Path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		Header: http.Header{"X-Remote-User": {"another"}},
		Body:   []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`),
	}, &review)
	require.NoError(t, err)
	assert.NotEqual(t, "another", review.Status.UserInfo.Username)
	assert.NotEmpty(t, review.Status.UserInfo.Username)
}

// renewed are credentials with another token after each 401.
type renewed struct{ refused atomic.Int32 }

func (r *renewed) Apply(request *http.Request) error {
	request.Header.Set("Authorization", fmt.Sprint("Bearer ", r.refused.Load()))
	return nil
}

func (r *renewed) Unauthorized(*http.Request) { r.refused.Add(1) }

func (r *renewed) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

// The server gets the user's token and never that of the proxy, and a 401 of the server renews it.
func TestTheServerGetsTheCredentialsOfTheUser(t *testing.T) {
	for name, c := range map[string]struct {
		credentials restclient.Credentials
		want        []string
	}{
		"anonymous": {nil, []string{"", ""}},
		"a token":   {&renewed{}, []string{"Bearer 0", "Bearer 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = append(got, r.Header.Get("Authorization"))
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer server.Close()
			direct, err := restclient.New(restclient.Config{Host: server.URL, Credentials: c.credentials})
			require.NoError(t, err)
			defer direct.Close()
			proxy, err := guard.Start(direct)
			require.NoError(t, err)
			defer proxy.Close()
			file := filepath.Join(t.TempDir(), "guarded")
			require.NoError(t, proxy.WriteKubeconfig(file))
			through := load(t, file, restclient.WatchHTTP)
			for range c.want {
				err := through.Do(t.Context(), restclient.Request{Path: "/version"}, nil)
				assert.True(t, api.IsUnauthorized(err), err)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// The proxy knows the cluster by everything that a kubeconfig can say about its certificate.
func TestTheProxyKnowsTheCertificateOfTheServer(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) }))
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	file := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(file, authority, 0o600))
	const certified = "example.com" // by the certificate of httptest
	for name, settings := range map[string]restclient.TLS{
		"its content":       {CAData: authority, ServerName: certified},
		"its file":          {CAFile: file, ServerName: certified},
		"a function":        {ReadCA: func() ([]byte, error) { return authority, nil }, ServerName: certified},
		"no authority":      {Insecure: true},
		"content over file": {CAData: authority, CAFile: "nothing", ServerName: certified},
	} {
		t.Run(name, func(t *testing.T) {
			dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
			}
			unproxied := func(*http.Request) (*url.URL, error) { return nil, nil }
			direct, err := restclient.New(restclient.Config{Host: "https://cluster.test", TLS: settings, Dial: dial, Proxy: unproxied})
			require.NoError(t, err)
			defer direct.Close()
			proxy, err := guard.Start(direct)
			require.NoError(t, err)
			defer proxy.Close()
			guarded := filepath.Join(t.TempDir(), "guarded")
			require.NoError(t, proxy.WriteKubeconfig(guarded))
			assert.NoError(t, load(t, guarded, restclient.WatchHTTP).Do(t.Context(), restclient.Request{Path: "/version"}, nil))
		})
	}
}
