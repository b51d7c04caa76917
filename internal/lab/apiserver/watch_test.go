package apiserver_test

import (
	"context"
	"io"
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
