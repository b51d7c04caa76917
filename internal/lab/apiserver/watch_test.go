package apiserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
)

// bubble runs a test with a server in a synctest bubble.
func bubble(t *testing.T, test func(t *testing.T, p *piped), changes ...func(*apiserver.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newPiped(t, changes...)) })
}

func TestStopEndsWatchesGracefully(t *testing.T) {
	for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
		t.Run(string(transport), func(t *testing.T) {
			bubble(t, func(t *testing.T, p *piped) {
				client := p.restClient(func(c *restclient.Config) { c.WatchTransport = transport })
				watch, err := restclient.Metadata(client, api.NamespacesResource, "").Watch(t.Context(),
					api.ListOptions{ResourceVersion: "1"})
				require.NoError(t, err)
				synctest.Wait()
				assert.EqualValues(t, 1, p.server.Snapshot().Watches)
				require.NoError(t, p.server.Stop(context.Background()))
				for {
					if _, err = watch.Next(); err != nil {
						break
					}
				}
				assert.ErrorIs(t, err, io.EOF)
				assert.Zero(t, p.server.Snapshot(), "a watch that has ended is neither open nor a request in flight")
				assert.Equal(t, 503, p.do("GET", "/api", "").code, "no request is admitted")
			})
		})
	}
}

func TestCutWatchesBreak(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		w := p.watch(configMaps + "?watch=1")
		_, err := p.server.Faults().Add("cut-watches")
		require.NoError(t, err)
		w.breaks()
		again := p.watch(configMaps + "?watch=1")
		p.configMap("a")
		again.want("ADDED", "a")

		client := p.restClient(func(c *restclient.Config) { c.WatchTransport = restclient.WatchWebSocket })
		watch, err := restclient.Metadata(client, api.GroupVersionResource{Version: "v1", Resource: "secrets"}, "").
			Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		_, err = p.server.Faults().Add("cut-watches")
		require.NoError(t, err)
		_, err = watch.Next()
		assert.NotErrorIs(t, err, io.EOF)
		again.breaks()
	})
}

// A half-open connection neither sends nor ends, even if the time is up or the history is
// compacted.
func TestSilentWatches(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		for _, query := range []string{"?watch=1&timeoutSeconds=60&allowWatchBookmarks=1",
			"?watch=1&resourceVersion=1"} {
			_, err := p.server.Faults().Add("silence")
			require.NoError(t, err)
			w := p.watch(configMaps + query)
			p.configMap("a" + time.Now().Format("150405"))
			ended := make(chan bool, 1)
			go func() {
				w.lines.Scan()
				ended <- true
			}()
			time.Sleep(2 * time.Hour)
			assert.Empty(t, ended)
			w.body.Close()
			<-ended
			for _, fault := range p.server.Faults().List() {
				p.server.Faults().Remove(fault.ID)
			}
			p.server.Faults().Add("compact")
		}
	})
}

func TestBookmarks(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		begun := time.Now()
		w := p.watch(configMaps + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=150")
		p.configMap("a")
		added := w.want("ADDED", "a")
		first := w.want("BOOKMARK", "")
		assert.InDelta(t, time.Minute, time.Since(begun), float64(4*time.Second))
		assert.Equal(t, added.Object.Metadata.ResourceVersion, first.Object.Metadata.ResourceVersion)
		assert.Equal(t, "ConfigMap", first.Object.Kind)

		p.must(201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
		second := w.want("BOOKMARK", "")
		assert.NotEqual(t, first.Object.Metadata.ResourceVersion, second.Object.Metadata.ResourceVersion,
			"the version of a write to another resource")
		w.want("BOOKMARK", "")
		assert.Equal(t, 148*time.Second, time.Since(begun), "shortly before the end")
		w.ends()
		assert.Equal(t, 150*time.Second, time.Since(begun))

		p.watch(configMaps + "?watch=1&timeoutSeconds=150&resourceVersion=" + second.Object.Metadata.ResourceVersion).
			ends() // no bookmarks by default
	})
}

// fault adds a fault.
func (p *piped) fault(text string) string {
	p.t.Helper()
	id, err := p.server.Faults().Add(text)
	require.NoError(p.t, err)
	return id
}

const streamingQuery = "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

func TestEventsAreRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		w := p.watch(configMaps + "?watch=1")
		p.fault("repeat-events:back=2")
		p.configMap("a")
		w.want("ADDED", "a")
		w.want("ADDED", "a")
		p.configMap("b")
		for _, name := range []string{"b", "a", "b"} {
			w.want("ADDED", name)
		}
		p.must(200, "DELETE", configMaps+"/a", "")
		w.want("DELETED", "a")
		w.want("ADDED", "b")
		w.want("DELETED", "a")
	})
}

func TestHeldEventsComeLate(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		w := p.watch(configMaps + "?watch=1")
		synctest.Wait() // the watch waits for events
		begun := time.Now()
		p.fault("hold-events:for=20s,resource=configmaps")
		p.configMap("a")
		p.configMap("b")
		w.want("ADDED", "a")
		assert.GreaterOrEqual(t, time.Since(begun), 20*time.Second)
		assert.Less(t, time.Since(begun), 21*time.Second)
		w.want("ADDED", "b")
	})
}

// The watch is in the middle of sending when the fault is added: what happens from then on is held.
func TestEventsOfABusyWatchAreHeld(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		w := p.watch(configMaps + "?watch=1")
		large := strings.Repeat("x", 900<<10) // sending it blocks until it is read
		p.must(201, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":"`+large+`"}}`)
		synctest.Wait()
		hold := p.fault("hold-events:resource=configmaps")
		p.configMap("b")
		w.want("ADDED", "a")
		synctest.Wait()
		begun := time.Now()
		time.AfterFunc(10*time.Second, func() { p.server.Faults().Remove(hold) })
		w.want("ADDED", "b")
		assert.GreaterOrEqual(t, time.Since(begun), 10*time.Second)
	})
}

// A bookmark says that every event before its version was sent. This watch has fetched an event,
// and then it is held.
func TestABookmarkDoesNotOvertakeHeldEvents(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		w := p.watch(configMaps + "?watch=1&allowWatchBookmarks=true")
		large := strings.Repeat("x", 900<<10) // sending it blocks until it is read
		p.must(201, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":"`+large+`"}}`)
		synctest.Wait()
		p.fault("hold-events:for=3m,resource=configmaps")
		p.configMap("b")
		w.want("ADDED", "a")
		w.want("ADDED", "b")
		w.want("BOOKMARK", "")
	})
}

func TestAHeldWatchIsCut(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		w := p.watch(configMaps + "?watch=1")
		synctest.Wait() // the watch waits for events
		p.fault("hold-events:resource=configmaps")
		p.configMap("a")
		p.fault("cut-watches")
		w.breaks()
	})
}

func TestAHeldWatchExpiresWhenItIsReleased(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		w := p.watch(configMaps + "?watch=1")
		synctest.Wait() // the watch waits for events
		begun := time.Now()
		p.fault("hold-events:for=20s,resource=configmaps")
		p.configMap("a")
		p.configMap("b")
		p.fault("compact")
		w.want("ERROR", "")
		assert.GreaterOrEqual(t, time.Since(begun), 20*time.Second)
	})
}

func TestBookmarksAreWithheld(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		regular := p.fault("withhold-bookmarks:which=regular")
		w := p.watch(configMaps + streamingQuery + "&timeoutSeconds=200")
		w.want("BOOKMARK", "")
		w.ends()
		p.server.Faults().Remove(regular)

		begun := time.Now()
		p.configMap("zz")
		p.fault("withhold-bookmarks:which=initial")
		w = p.watch(configMaps + streamingQuery + "&timeoutSeconds=100")
		w.want("ADDED", "zz")
		w.want("BOOKMARK", "")
		assert.Greater(t, time.Since(begun), 50*time.Second)
	})
}

func TestStreamingListsAreInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		p.configMap("b")
		p.fault("interrupt-streaming-lists:after=1,count=1")
		w := p.watch(configMaps + streamingQuery)
		w.want("ADDED", "a")
		w.breaks()
		w = p.watch(configMaps + streamingQuery)
		w.want("ADDED", "a")
		w.want("ADDED", "b")
		w.want("BOOKMARK", "")

		p.fault("interrupt-streaming-lists:after=100,count=1")
		p.watch(configMaps+"?watch=1").want("ADDED", "a") // not a streaming list
		w = p.watch(configMaps + streamingQuery)
		w.want("ADDED", "a")
		w.want("ADDED", "b")
		w.breaks()
	})
}

func TestTheNextPageExpires(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		p.configMap("b")
		p.fault("expire-continue:count=1")
		_, token, found := strings.Cut(p.must(http.StatusOK, "GET", configMaps+"?limit=1", "").body, `"continue":"`)
		require.True(t, found)
		token, _, _ = strings.Cut(token, `"`)
		assert.Contains(t, p.must(http.StatusGone, "GET", configMaps+"?limit=1&continue="+token, "").message(t),
			"continue parameter is too old")
		assert.Contains(t, p.must(http.StatusOK, "GET", configMaps+"?limit=1&continue="+token, "").body, `"name":"b"`)
	})
}

// A server with a predecessor takes over its objects, custom resources, history and tokens.
func TestPredecessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		protected := func(c *apiserver.Config) { c.Unprotected = false }
		first := newPiped(t, protected)
		authorization := "Bearer " + first.server.Token()
		first.must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			`{"metadata":{"name":"widgets.example.org"},"spec":{"group":"example.org","scope":"Namespaced",
			"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,
			"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, "Authorization", authorization)
		first.must(201, "POST", "/apis/example.org/v1/namespaces/default/widgets",
			`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"}}`, "Authorization", authorization)
		require.NoError(t, first.server.Stop(t.Context()))

		second := newPiped(t, protected, func(c *apiserver.Config) { c.Predecessor = first.server })
		assert.Contains(t, second.must(200, "GET", "/apis/example.org/v1/widgets", "", "Authorization", authorization).
			body, `"name":"w"`)
		w := second.watch("/apis/example.org/v1/widgets?watch=1&resourceVersion=1", "Authorization", authorization)
		w.want("ADDED", "w")
	})
}
