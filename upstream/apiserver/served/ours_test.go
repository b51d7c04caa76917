package served_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/reflector"
	"orrery/internal/lab/chaos"
	"orrery/restclient"
	"orrery/restclient/api"
	clientfast "orrery/restclient/fast"
	"orrery/restclient/kubeconfig"
	"orrery/upstream/controlplane"
)

// This project's informers against a genuine control plane, which they reach through a link:
// streaming lists and pages, whole objects and metadata, HTTP and websocket. Writers change objects
// and namespaces, straight at kube-apiserver, while connections are cut, servers end and history is
// lost. Whenever the writers pause, every store must converge to what client-go lists, and every
// handler must have seen a valid history that ends there. Package internal/lab/chaos draws many more
// faults, in virtual time on the server in memory.
func TestOurInformersStayEqual(t *testing.T) {
	cp, err := controlplane.Start(t.Context(), controlplane.Config{Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	authors := newClients(t, cp.Kubeconfig())
	authors.defineWidgets(t)
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, cp.BackUpEtcd(t.Context(), backup))

	link := &chaos.Link{}
	proxy, err := chaos.NewProxy("127.0.0.1:0", strings.TrimPrefix(cp.Server(), "https://"), link)
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: cp.Kubeconfig()})
	require.NoError(t, err)
	config.Host, config.Codec = "https://"+proxy.Addr().String(), clientfast.Codec{}
	http := ourClient(t, config, restclient.WatchHTTP)
	socket := ourClient(t, config, restclient.WatchWebSocket)
	all := []*ours{
		follow(t, "namespaces", restclient.Typed[*api.Namespace](http, ourType(namespaces), ""), 0),
		follow(t, "configmaps", restclient.Metadata(http, ourType(configMaps), ""), 0),
		follow(t, "secrets in pages", restclient.Metadata(http, ourType(secrets), ""), 7),
		follow(t, "configmaps over websocket", restclient.Dynamic(socket, ourType(configMaps), ""), 0),
		follow(t, "widgets over websocket", restclient.Dynamic(socket, ourType(widgets), ""), 0),
	}

	source := newWriters(authors, seedOf(t))
	equal := func(t *testing.T) {
		for _, o := range all {
			await(t, cp.Failed(), o.name+" equals the server", func() error { return o.compare(t.Context(), authors) })
		}
	}
	for _, step := range []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{"connections are cut", func(ctx context.Context) error {
			for range 4 {
				link.Cut()
				if err := source.await(ctx, source.count()+50); err != nil {
					return err
				}
			}
			return nil
		}},
		{"kube-apiserver is restarted", cp.RestartAPIServer},
		{"kube-apiserver is killed", func(ctx context.Context) error {
			cp.KillAPIServer()
			return cp.StartAPIServer(ctx)
		}},
		{"etcd is compacted", func(ctx context.Context) error {
			_, err := cp.CompactEtcd(ctx)
			return err
		}},
		{"kube-apiserver loses its history", cp.ForgetHistory},
		{"etcd was restored", func(context.Context) error { return nil }},
	} {
		if step.name == "etcd was restored" {
			// All informers are ahead of a server that is restored. They must notice before
			// anything is written: once the server has passed their position, nobody can.
			require.NoError(t, cp.RestoreEtcd(t.Context(), backup))
			equal(t)
		}
		stop := source.start(t.Context())
		require.NoError(t, source.await(t.Context(), source.count()+200))
		require.NoError(t, step.do(t.Context()), step.name)
		require.NoError(t, source.await(t.Context(), source.count()+200))
		stop()
		equal(t)
		t.Logf("%s: equal after %d writes", step.name, source.count())
	}
}

// ourClient returns a client that must have closed everything at the end of the test.
func ourClient(t *testing.T, config restclient.Config, transport restclient.WatchTransport) *restclient.Client {
	config.WatchTransport = transport
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		client.Close()
		shot := client.Snapshot()
		assert.Zero(t, shot.Watches+shot.InFlight, "watches and requests that are still open")
	})
	return client
}

func ourType(gvr schema.GroupVersionResource) api.GroupVersionResource {
	return api.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}

// ours is an informer of this project, comparable with the server.
type ours struct {
	name     string
	resource schema.GroupVersionResource
	// wrong describes how store and histories differ from the server's states.
	wrong func(server map[string]chaos.State) []string
}

// follow starts an informer of a resource, with a plain and a coalescing handler, until the end of
// the test. It lists in pages of pageSize, or as a stream if that is 0.
func follow[T chaos.Object](t *testing.T, name string, resource *restclient.Resource[T], pageSize int64) *ours {
	shared := informer.NewSharedIndexInformer(resource, informer.Config[T]{
		Name: name, Gears: fast.Gears[T](), Reflector: reflector.Config[T]{
			PageSize: pageSize, DisableWatchList: pageSize > 0,
			Backoff: reflector.BackoffConfig{Max: 4 * time.Second}, // so that it recovers soon after a step
		},
	})
	var histories []*chaos.History
	for _, options := range []informer.HandlerOptions{{Name: "plain"}, {Name: "coalescing", Coalescing: true}} {
		h := chaos.NewHistory(name+", "+options.Name, false, nil)
		histories = append(histories, h)
		_, err := shared.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[T]{
			AddFunc:    func(obj T, initial bool) { h.Added(keyOf(obj), chaos.StateOf(obj), initial) },
			UpdateFunc: func(old, obj T) { h.Updated(keyOf(obj), chaos.StateOf(old), chaos.StateOf(obj)) },
			DeleteFunc: func(d informer.DeletedObject[T]) {
				h.Deleted(d.Key, chaos.StateOf(d.Object), d.FinalStateUnknown)
			},
		}, options)
		require.NoError(t, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = shared.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	gvr := resource.GroupVersionResource()
	o := &ours{name: name, resource: schema.GroupVersionResource{Group: gvr.Group, Version: gvr.Version,
		Resource: gvr.Resource}}
	o.wrong = func(server map[string]chaos.State) []string {
		store := map[string]chaos.State{}
		for _, obj := range shared.GetIndexer().List() {
			store[keyOf(obj)] = chaos.StateOf(obj)
		}
		wrong := chaos.Compare(store, server)
		for _, h := range histories {
			wrong = append(append(wrong, h.Violations()...), h.Differences(server)...)
		}
		if shot := shared.Snapshot(); shot.ProcessErrors > 0 || shot.Reflector.StoreErrors > 0 {
			wrong = append(wrong, fmt.Sprint("events were not applied: ", shot.LastProcessError,
				shot.Reflector.LastStoreError))
		}
		return wrong
	}
	return o
}

// compare lists the server's objects by a consistent read, and describes what differs from them.
func (o *ours) compare(ctx context.Context, clients *clients) error {
	list, err := clients.dynamic.Resource(o.resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	if wrong := o.wrong(statesOf(items)); len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}
