package fast_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// reported is a handler that records the names of its events.
type reported struct {
	mu    sync.Mutex
	names []string
}

func (h *reported) record(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names = append(h.names, what)
}

func (h *reported) OnAdd(obj *api.Namespace, _ bool)                  { h.record("+" + obj.Name) }
func (h *reported) OnUpdate(_, obj *api.Namespace)                    { h.record("=" + obj.Name) }
func (h *reported) OnDelete(d informer.DeletedObject[*api.Namespace]) { h.record("-" + d.Key) }
func (h *reported) got() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.names
}

// held is the fast processor, flushed by the test and not by the informer.
type held struct {
	informer.Processor[*api.Namespace]
}

func (h held) Flush() {}

func (h held) flush() { h.Processor.Flush() }

type (
	namespaces = informertest.FakeSource[*api.Namespace]
	shared     = informer.SharedIndexInformer[*api.Namespace]
)

// inBubble runs a test with an informer whose processor is held.
func inBubble(t *testing.T, test func(t *testing.T, source *namespaces, inf *shared, p held)) {
	synctest.Test(t, func(t *testing.T) {
		p := held{fast.NewProcessor[*api.Namespace]()}
		source := informertest.NewNamespaceSource()
		inf := informer.NewSharedIndexInformer(source, informer.Config[*api.Namespace]{
			ResyncPeriod: time.Hour,
			Gears:        informer.Gears[*api.Namespace]{NewProcessor: func() informer.Processor[*api.Namespace] { return p }},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = inf.Run(ctx) })
		defer running.Wait()
		defer cancel()
		synctest.Wait()
		test(t, source, inf, p)
	})
}

// TestEachListenerGetsItsShare changes objects, flushes, and lets listeners join at random moments
// between the change of the store and the flush. It compares what each receives with the changes
// during its registration.
func TestEachListenerGetsItsShare(t *testing.T) {
	type member struct {
		handler reported
		want    []string
	}
	rapid.Check(t, func(rt *rapid.T) {
		step := rapid.SampledFrom([]string{"change", "change", "change", "flush", "join"})
		script := rapid.SliceOfN(step, 1, 60).Draw(rt, "script")
		inBubble(t, func(t *testing.T, source *namespaces, inf *shared, p held) {
			var members []*member
			var names []string
			for i, what := range script {
				switch what {
				case "change":
					name := strconv.Itoa(i)
					source.Add(informertest.Namespace(name))
					names = append(names, "+"+name)
					for _, m := range members {
						m.want = append(m.want, "+"+name)
					}
				case "flush":
					p.flush()
				case "join":
					m := &member{want: append([]string(nil), names...)}
					_, err := inf.AddEventHandler(&m.handler)
					require.NoError(t, err)
					members = append(members, m)
				}
				synctest.Wait()
			}
			p.flush()
			synctest.Wait()
			for _, m := range members {
				assert.ElementsMatch(t, m.want, m.handler.got())
			}
		})
	})
}

// TestAResyncReachesTheHandlersThatWereDue: a resync reaches the handlers that were due when the
// store was repeated, although it waits for a flush until others are due.
func TestAResyncReachesTheHandlersThatWereDue(t *testing.T) {
	inBubble(t, func(t *testing.T, source *namespaces, inf *shared, p held) {
		source.Add(informertest.Namespace("a"))
		var hourly, never reported
		_, err := inf.AddEventHandler(&hourly)
		require.NoError(t, err)
		_, err = inf.AddEventHandlerWithOptions(&never, informer.HandlerOptions{ResyncPeriod: -1})
		require.NoError(t, err)
		time.Sleep(61 * time.Minute)
		synctest.Wait()
		assert.Zero(t, p.ShouldResync(time.Now()), "no handler is due any more")
		p.flush()
		synctest.Wait()
		assert.Equal(t, []string{"+a", "=a"}, hourly.got(), "the reminder, after the addition")
		assert.Equal(t, []string{"+a"}, never.got())
	})
}

// TestPendingDoesNotCountSkippedResyncs: a resync between two additions splits the batch of a
// handler that was not due.
func TestPendingDoesNotCountSkippedResyncs(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *namespaces, inf *shared, p held) {
		var hourly, never reported
		_, err := inf.AddEventHandler(&hourly)
		require.NoError(t, err)
		_, err = inf.AddEventHandlerWithOptions(&never, informer.HandlerOptions{ResyncPeriod: -1})
		require.NoError(t, err)
		require.Equal(t, 1, p.ShouldResync(time.Now().Add(2*time.Hour)))
		for _, name := range []string{"a", "b", "c"} {
			p.Distribute(informer.Notification[*api.Namespace]{
				Kind: informer.EventAdd, Key: name, New: informertest.Namespace(name), Sync: name == "b",
			})
		}
		p.flush()
		synctest.Wait()
		assert.Equal(t, []string{"+a", "+c"}, never.got(), "a handler without resync gets no event of one")
		assert.Equal(t, []string{"+a", "+b", "+c"}, hourly.got())
		for i, h := range inf.Snapshot().Handlers {
			assert.Zero(t, h.Pending, "everything was delivered to handler %d", i)
		}
	})
}

// TestNothingIsKeptForAHandlerThatLeft: the handler leaves by runtime.Goexit.
func TestNothingIsKeptForAHandlerThatLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, source *namespaces, inf *shared, p held) {
		r, err := inf.AddEventHandler(informer.ResourceEventHandlerFuncs[*api.Namespace]{AddFunc: func(*api.Namespace,
			bool) {
			runtime.Goexit()
		}})
		require.NoError(t, err)
		source.Add(informertest.Namespace("a"))
		synctest.Wait()
		p.flush()
		<-r.Ended()
		var collected atomic.Bool
		func() {
			obj := informertest.Namespace("b")
			runtime.AddCleanup(obj, func(struct{}) { collected.Store(true) }, struct{}{})
			p.Distribute(informer.Notification[*api.Namespace]{Kind: informer.EventAdd, Key: "b", New: obj})
		}()
		p.flush()
		for i := 0; i < 1000 && !collected.Load(); i++ {
			runtime.GC()
			runtime.Gosched()
		}
		assert.True(t, collected.Load(), "the object is not retained")
	})
}
