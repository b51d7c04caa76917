package informer_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
	"orrery/wait"
)

type config = informer.Config[*api.Namespace]

func byLabel(ns *api.Namespace) ([]string, error) { return []string{ns.Labels["team"]}, nil }

// The contract asserts that there are errors.
func TestErrorsHaveTypes(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		_, err := n.AddEventHandler(nil)
		assert.ErrorIs(t, err, informer.ErrNoHandler)
		foreign, err := informer.NewSharedIndexInformer(n.source, config{}).AddEventHandler(&log{})
		require.NoError(t, err)
		for _, r := range []*informer.Registration{nil, foreign} {
			assert.ErrorIs(t, n.RemoveEventHandler(r), informer.ErrForeignRegistration)
		}
		n.start()
		assert.ErrorIs(t, n.Run(context.Background()), informer.ErrStarted)
		assert.NoError(t, n.AddIndexers(indexer.Indexers[*api.Namespace]{"team": byLabel}), "indexes may come late")
		require.NoError(t, n.stop())

		assert.ErrorIs(t, n.Run(context.Background()), informer.ErrStopped)
		_, err = n.AddEventHandler(&log{})
		assert.ErrorIs(t, err, informer.ErrStopped)
		assert.ErrorIs(t, n.AddIndexers(indexer.Indexers[*api.Namespace]{"other": byLabel}), informer.ErrStopped)
	})
}

func TestTransformThatPanicsIsReported(t *testing.T) {
	defer survivePanics()()
	var reported []error
	cfg := config{
		Gears:             fastGears,
		WatchErrorHandler: func(_ context.Context, err error) { reported = append(reported, err) },
		Transform: func(ns *api.Namespace) (*api.Namespace, error) {
			if ns.Name == "bad" {
				panic("a fault in a transform")
			}
			return ns, nil
		},
	}
	inBubble(t, cfg, func(n *namespaces) {
		h := n.handler()
		n.start()
		n.add("bad")
		n.add("good")
		assert.Equal(t, &log{"add good"}, h)
		require.Len(t, reported, 1)
		var process *informer.ProcessError
		require.ErrorAs(t, reported[0], &process)
		assert.Equal(t, "bad", process.Key)
		require.ErrorAs(t, reported[0], new(*deltafifo.TransformError))
		var thrown *wait.Panic
		require.ErrorAs(t, reported[0], &thrown)
		assert.Equal(t, "a fault in a transform", thrown.Value)
		assert.Contains(t, reported[0].Error(), "a fault in a transform")

		s := n.Snapshot()
		assert.EqualValues(t, 1, s.ProcessErrors)
		assert.Same(t, process, s.LastProcessError)
	})
}

// TestTransformThatReturnsNothing: nil is a refusal, which costs neither the list nor a deletion.
func TestTransformThatReturnsNothing(t *testing.T) {
	for name, gears := range sets {
		t.Run(name, func(t *testing.T) {
			nothing := true
			cfg := config{Gears: gears, Transform: func(ns *api.Namespace) (*api.Namespace, error) {
				if nothing && ns.Name == "a" {
					return nil, nil
				}
				return ns, nil
			}}
			inBubble(t, cfg, func(n *namespaces) {
				h := n.handler()
				n.source.Add(namespace("a"))
				n.source.Add(namespace("b"))
				n.start()
				assert.True(t, n.HasSynced(), "an object that became nothing keeps the informer unsynced")
				assert.Equal(t, &log{"add b (initial)"}, h)
				nothing = false
				n.modify("a")
				nothing = true
				n.modify("a")
				n.delete("a")
				assert.Equal(t, &log{"add b (initial)", "add a", "delete a"}, h)
				s := n.Snapshot()
				assert.EqualValues(t, 3, s.ProcessErrors)
				assert.Equal(t, "a", s.LastProcessError.Key)
				assert.ErrorContains(t, s.LastProcessError, "the transform returned no object")
			})
		})
	}
}

// TestRefusedObjectsAreReported: an object without a key, in a list and in an event, is reported as
// the errors of a transform are.
func TestRefusedObjectsAreReported(t *testing.T) {
	var reported []error
	cfg := config{WatchErrorHandler: func(_ context.Context, err error) { reported = append(reported, err) }}
	cfg.Reflector.DisableWatchList = true
	inEachBubble(t, cfg, func(n *namespaces) {
		reported = nil
		n.source.Add(namespace(""))
		n.start()
		n.delete("")
		assert.True(t, n.HasSynced())
		require.Len(t, reported, 2)
		for _, err := range reported {
			require.ErrorAs(t, err, new(*informer.ProcessError))
			require.ErrorAs(t, err, new(*deltafifo.KeyError))
		}
	})
}

// TestPanicInTheLoopIsSurvived: a hook of the store panics during an event. Events whose batch was
// pending then are delivered, and the next event is processed.
func TestPanicInTheLoopIsSurvived(t *testing.T) {
	defer survivePanics()()
	release := make(chan struct{})
	var errs []*informer.ProcessError
	cfg := config{
		Gears: fastGears,
		StoreTrace: &indexer.Trace{Added: func(key string) {
			switch key {
			case "first":
				<-release // so that the others wait together
			case "bad":
				panic("a fault in a hook")
			}
		}},
		Trace: &informer.Trace{ProcessError: func(name string, err *informer.ProcessError) {
			assert.Equal(t, "namespaces", name)
			errs = append(errs, err)
		}},
	}
	inBubble(t, cfg, func(n *namespaces) {
		release = make(chan struct{}) // of the bubble
		h := n.handler()
		n.start()
		n.add("first")
		n.add("good")
		n.add("bad")
		close(release)
		synctest.Wait()
		assert.Equal(t, &log{"add first", "add good"}, h)
		n.add("better")
		assert.Equal(t, &log{"add first", "add good", "add better"}, h)
		require.Len(t, errs, 1)
		require.ErrorAs(t, errs[0], new(*wait.Panic))
	})
}

// TestErrorsAreReportedBeforeRunReturns: a stopping informer reports errors that occurred just
// before.
func TestErrorsAreReportedBeforeRunReturns(t *testing.T) {
	refused := errors.New("refused")
	reported := 0
	release := make(chan struct{})
	inBubble(t, config{
		Gears:     fastGears,
		Transform: func(*api.Namespace) (*api.Namespace, error) { return nil, refused },
		WatchErrorHandler: func(context.Context, error) {
			reported++
			<-release
		},
	}, func(n *namespaces) {
		release = make(chan struct{}) // of the bubble
		n.start()
		for _, name := range []string{"a", "b", "c"} {
			n.add(name)
		}
		n.cancel()
		synctest.Wait()
		close(release)
		require.NoError(t, <-n.result)
		assert.Equal(t, 3, reported)
	})
}

// A list at "0" may come from a cache that lags: after the panic of its reflector, a store must not
// go back in time.
func TestAReflectorThatReplacesAnotherOneListsAtItsLastVersion(t *testing.T) {
	defer survivePanics()()
	for form, gears := range map[string]informer.Gears[*api.Namespace]{"textbook": {}, "fast": fastGears} {
		for _, panics := range []string{"hook", "list", "watch", "again before its list"} {
			t.Run(form+"/"+panics, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					source := &explodingSource{FakeSource: informertest.NewNamespaceSource(), left: map[string]int{}}
					cfg := config{Gears: gears}
					cfg.Reflector.DisableWatchList = true
					cfg.Reflector.Trace = &reflector.Trace{Bookmark: func(string, bool) { source.explode("bookmark") }}
					inf := informer.NewSharedIndexInformer(source, cfg)
					running(t, inf)
					time.Sleep(2 * time.Second)
					source.Add(informertest.Namespace("a"))
					synctest.Wait()
					require.Equal(t, "2", inf.LastSyncResourceVersion())

					want := []string{"0", "2"}
					switch panics {
					case "hook":
						source.left["bookmark"] = 1
						source.SendBookmark()
					case "watch":
						source.left["watch"] = 1
						source.Cut(nil)
					case "list":
						source.left["list"] = 1
						source.SendError(informertest.Expired("too old"))
					default:
						source.left["bookmark"], source.left["list"] = 1, 2
						source.SendBookmark()
					}
					time.Sleep(time.Minute)
					synctest.Wait()
					assert.Empty(t, source.left, "want all planned panics to have happened")
					assert.Equal(t, want, source.lists(), "the first list of the new reflector is at the last version")
					source.Add(informertest.Namespace("b"))
					synctest.Wait()
					assert.Len(t, inf.GetIndexer().ListKeys(), 2, "the new reflector follows the source")
				})
			})
		}
	}
}

// explodingSource panics as often as left says.
type explodingSource struct {
	*informertest.FakeSource[*api.Namespace]
	left map[string]int
}

func (s *explodingSource) explode(what string) {
	if s.left[what] == 0 {
		return
	}
	if s.left[what]--; s.left[what] == 0 {
		delete(s.left, what)
	}
	panic("a planned fault: " + what)
}

func (s *explodingSource) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	s.explode("list")
	return s.FakeSource.List(ctx, opts)
}

func (s *explodingSource) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	s.explode("watch")
	return s.FakeSource.Watch(ctx, opts)
}

// lists returns the versions of the lists that were answered, without those that verify a position.
func (s *explodingSource) lists() (versions []string) {
	for _, r := range s.Requests() {
		if r.Verb == "list" && r.Options.Limit != 1 {
			versions = append(versions, r.Options.ResourceVersion)
		}
	}
	return versions
}

// TestPanicInAHandlerEndsTheProcess: by default a panic in a handler ends the process. That
// process is this test, run once more.
func TestPanicInAHandlerEndsTheProcess(t *testing.T) {
	const child = "ORRERY_TEST_PANICS"
	if os.Getenv(child) != "" {
		panicInAHandler()
		return // the parent sees that the process has survived
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	assert.ErrorAs(t, err, new(*exec.ExitError), "%s", out)
	assert.Contains(t, string(out), "observed a panic: a fault in a handler")
	assert.Contains(t, string(out), "panicInAHandler", "the stack shows the handler")
}

func panicInAHandler() {
	source := informertest.NewNamespaceSource()
	source.Add(namespace("a"))
	inf := informer.NewSharedIndexInformer(source, config{})
	r, _ := inf.AddEventHandler(onAdd(func(*api.Namespace) { panic("a fault in a handler") }))
	go func() { _ = inf.Run(context.Background()) }()
	<-r.Synced()
}

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
