package informer_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

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
