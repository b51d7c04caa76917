package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// TestSelectorsReachTheServer: informers of selected objects on an API server, by list and watch
// and by streaming list. An object that starts or stops matching is added or deleted.
func TestSelectorsReachTheServer(t *testing.T) {
	for name, streaming := range map[string]bool{"list and watch": false, "streaming list": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
				require.NoError(t, err)
				defer func() { assert.NoError(t, server.Stop(context.Background())) }()
				client := restclienttest.NewServer(t, server.Handler()).Client()
				namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
				create := func(name, team string) {
					_, err := namespaces.Create(t.Context(), informertest.Namespace(name, "team", team),
						api.UpdateOptions{})
					require.NoError(t, err)
				}
				create("shop", "red")
				create("office", "blue")

				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{}, 2)
				start := func(tweak func(*api.ListOptions)) (*informer.SharedIndexInformer[*api.Namespace], *log) {
					inf := informer.NewSharedIndexInformer(namespaces, config{
						TweakListOptions: tweak,
						Reflector:        reflector.Config[*api.Namespace]{DisableWatchList: !streaming},
					})
					reported := &log{}
					_, err := inf.AddEventHandler(reported)
					require.NoError(t, err)
					go func() {
						_ = inf.Run(ctx)
						done <- struct{}{}
					}()
					require.NoError(t, informer.WaitForSync(ctx, inf))
					return inf, reported
				}
				byLabel, red := start(func(opts *api.ListOptions) { opts.LabelSelector = "team in (red, green)" })
				byField, office := start(func(opts *api.ListOptions) { opts.FieldSelector = "metadata.name=office" })
				assert.ElementsMatch(t, []string{"shop"}, byLabel.GetIndexer().ListKeys())
				assert.ElementsMatch(t, []string{"office"}, byField.GetIndexer().ListKeys())

				create("garden", "green")
				create("attic", "blue")
				_, err = namespaces.Patch(t.Context(), "shop", api.MergePatchType,
					[]byte(`{"metadata":{"labels":{"team":"blue"}}}`), api.UpdateOptions{})
				require.NoError(t, err)
				time.Sleep(time.Second)
				synctest.Wait()
				assert.Equal(t, log{"add shop (initial)", "add garden", "delete shop"}, *red)
				assert.Equal(t, log{"add office (initial)"}, *office)
				assert.ElementsMatch(t, []string{"garden"}, byLabel.GetIndexer().ListKeys())
				cancel()
				<-done
				<-done
			})
		})
	}
}

// answering is a source with two of the optional methods.
type answering struct {
	*informertest.FakeSource[*api.Namespace]
	unsupported, keepalive bool
}

func (s answering) IsWatchListSemanticsUnSupported() bool { return s.unsupported }
func (s answering) HasKeepalive() bool                    { return s.keepalive }

// TestTweakedSourceStillAnswers the reflector's optional methods besides list and watch.
func TestTweakedSourceStillAnswers(t *testing.T) {
	for _, source := range []answering{{unsupported: true, keepalive: false}, {unsupported: false, keepalive: true}} {
		var got reflector.Config[*api.Namespace]
		cfg := config{TweakListOptions: func(opts *api.ListOptions) { opts.LabelSelector = "a=b" }}
		cfg.Gears.NewReflector = func(cfg reflector.Config[*api.Namespace]) informer.Reflector {
			got = cfg
			return reflector.New(cfg)
		}
		source.FakeSource = informertest.NewNamespaceSource()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			assert.NoError(t, informer.NewSharedIndexInformer(source, cfg).Run(ctx))
		})
		assert.Equal(t, source.unsupported,
			got.ListerWatcher.(interface{ IsWatchListSemanticsUnSupported() bool }).IsWatchListSemanticsUnSupported())
		assert.Equal(t, source.keepalive, got.ListerWatcher.(interface{ HasKeepalive() bool }).HasKeepalive())
	}
}
