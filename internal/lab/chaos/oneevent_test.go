package chaos_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/informer"
	"orrery/internal/lab/apiserver"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/restclienttest"
)

// TestOneEvent runs the way of one event through the gears. A test of package house builds it
// with a line of output before every statement, and compares the order with docs/learn.
//
// A server in memory and the namespace controller are at rest, in a bubble of virtual time. Then a
// user deletes a namespace that holds one object. The recording begins before the DELETE and ends
// with the controller's request that finalizes the namespace. The user's requests do not use
// restclient, so only the controller's are recorded.
func TestOneEvent(t *testing.T) {
	for _, name := range []string{"textbook", "fast"} {
		set, err := gears.Parse(name)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { oneEvent(t, name, set) })
		})
	}
}

// oneEvent marks the beginning and the end of the event on the standard error output.
func oneEvent(t *testing.T, name string, set gears.Set) {
	server, err := apiserver.New(apiserver.Config{NoCollector: true, NoKubelet: true}) // they have informers, too
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop(context.Background())) }()
	user := func(method, path, body string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		require.NoError(t, restclienttest.Bearer(server.Token()).Apply(r))
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, r)
		require.Less(t, answer.Code, 300, "%s %s: %s", method, path, answer.Body)
	}
	finalized := false
	link := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && r.URL.Path == "/api/v1/namespaces/team-a/finalize" {
			println("end", name)
			finalized = true
		}
		server.Handler().ServeHTTP(w, r)
	}))
	ctx, stop := context.WithCancel(t.Context())
	wait := startNamespaceController(t, ctx, set, link.Client(func(c *restclient.Config) {
		c.Credentials, c.Codec = restclienttest.Bearer(server.Token()), set.Codec()
	}))
	defer wait()
	defer stop()

	user("POST", "/api/v1/namespaces", `{"metadata":{"name":"team-a"}}`)
	user("POST", "/api/v1/namespaces/team-a/configmaps", `{"metadata":{"name":"settings"}}`)
	time.Sleep(10 * time.Second)
	synctest.Wait()
	println("begin", name)
	user("DELETE", "/api/v1/namespaces/team-a", "")
	time.Sleep(10 * time.Second)
	synctest.Wait()
	require.True(t, finalized)
}

// startNamespaceController runs the namespace controller as "orrery run" wires it. It returns a
// function that waits for its end.
func startNamespaceController(
	t *testing.T, ctx context.Context, set gears.Set, client *restclient.Client,
) (wait func()) {
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	factory := &informer.SharedInformerFactory{}
	shared := informer.InformerFor(factory, "namespaces",
		func(time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
			return informer.NewSharedIndexInformer(namespaces, informer.Config[*api.Namespace]{
				Name: "namespaces", Gears: gears.Informer[*api.Namespace](set),
			})
		})
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: shared,
		Pool:     controller.PoolConfig{NewQueue: set.NewQueue},
		Deleter: gears.Choose(set, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)(nsctl.DeleterConfig{
			Namespaces: namespaces,
			Content:    nsctl.NewContentClient(client),
			Discovery:  discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true})),
		}),
	})
	require.NoError(t, err)
	ended := make(chan struct{})
	require.NoError(t, factory.Start(ctx))
	go func() {
		defer close(ended)
		controller.Run(ctx)
	}()
	return func() {
		<-ended
		factory.Shutdown()
	}
}
