package integration_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/restclienttest"
)

// TestWhatIsSent checks the requests of three informers at the server.
func TestWhatIsSent(t *testing.T) {
	const (
		whole = "application/json"
		head  = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
		heads = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	)
	for _, over := range ways {
		t.Run(over.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, over, nil)
				w.settings.MinWatchTimeout, w.settings.IdleTimeout = 0, 0 // the default: five to ten minutes
				w.set("a", "1")
				w.run()
				synctest.Wait()
				sent := map[string][]restclienttest.Recorded{}
				for _, r := range w.server.Requests() {
					sent[r.Path] = append(sent[r.Path], r)
				}
				for path, accept := range map[string][2]string{
					"/api/v1/namespaces":           {whole, whole},
					"/api/v1/pods":                 {heads, head},
					"/apis/example.org/v1/widgets": {whole, whole},
				} {
					require.Len(t, sent[path], 2, path)
					list, watch := sent[path][0], sent[path][1]
					assert.Equal(t, "limit=500&resourceVersion=0", list.Query.Encode())
					assert.Equal(t, accept[0], list.Header.Get("Accept"))
					seconds, err := strconv.Atoi(watch.Query.Get("timeoutSeconds"))
					require.NoError(t, err)
					if over.watch == restclient.WatchHTTP && !over.tls { // it must end before the idle timeout
						assert.GreaterOrEqual(t, seconds, 31)
						assert.LessOrEqual(t, seconds, 40)
					} else {
						assert.GreaterOrEqual(t, seconds, 300)
						assert.Less(t, seconds, 600)
					}
					watch.Query.Del("timeoutSeconds")
					assert.Equal(t, "allowWatchBookmarks=true&resourceVersion=2&watch=true", watch.Query.Encode())
					assert.Equal(t, accept[1], watch.Header.Get("Accept"))
					assert.Equal(t, over.watch == restclient.WatchWebSocket, watch.Header.Get("Origin") != "")
				}
				assert.NoError(t, w.stop())
			})
		})
	}
}

// hours returns the hours of a test of quiet watches: long with LONG=1, see .ci/test.
func hours(long, short time.Duration) time.Duration {
	if testing.Short() {
		return short
	}
	return long
}

// TestADayOfWatching (a quarter of one with -short): the server ends each watch at its time limit
// and sends a bookmark a minute. A day takes one list and some two hundred watches, and more over
// HTTP/1.1, where watches are shorter because of the idle timeout. No watch is mistaken for dead.
func TestADayOfWatching(t *testing.T) {
	for _, over := range ways {
		t.Run(over.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, over, nil)
				w.settings.MinWatchTimeout, w.settings.IdleTimeout = 0, 0
				shortest := 5 * time.Minute
				if over.watch == restclient.WatchHTTP && !over.tls {
					shortest = 31 * time.Second
				}
				w.set("a", "1")
				w.run()
				minutes := int(hours(24, 6) * 60)
				for minute := range minutes {
					time.Sleep(time.Minute)
					w.each(func(c *collection) { c.source.SendBookmark() })
					if minute%60 == 0 {
						w.set(strconv.Itoa(minute%7), strconv.Itoa(minute))
					}
				}
				synctest.Wait()
				assert.NoError(t, w.verify())
				for _, s := range w.subjects {
					shot := s.Snapshot().Reflector
					assert.Equal(t, 1, shot.Lists)
					assert.Zero(t, shot.Failures)
					assert.GreaterOrEqual(t, shot.Watches, minutes/10)
					assert.LessOrEqual(t, shot.Watches, int(time.Duration(minutes)*time.Minute/shortest)+1)
				}
				assert.NoError(t, w.stop())
			})
		})
	}
}

// Pings of the server's library keep the link alive and prove nothing about the watch. Without
// bookmarks a watch is replaced after three minutes, which costs one request and loses nothing.
func TestPingsAreNoSignOfLife(t *testing.T) {
	for _, over := range ways {
		if over.watch != restclient.WatchWebSocket {
			continue
		}
		t.Run(over.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, over, nil)
				w.each(func(c *collection) { c.pingEvery = 10 * time.Second })
				w.set("a", "1")
				w.run()
				time.Sleep(10 * time.Minute)
				w.set("b", "2")
				synctest.Wait()
				assert.NoError(t, w.verify())
				for _, s := range w.subjects {
					assert.Equal(t, 1, s.Snapshot().Reflector.Lists)
					assert.Equal(t, 4, s.Snapshot().Reflector.Watches)
				}
				assert.NoError(t, w.stop())
			})
		})
	}
}
