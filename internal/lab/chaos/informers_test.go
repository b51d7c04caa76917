package chaos_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/reflector"
	"orrery/internal/lab/chaos"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
	clientfast "orrery/restclient/fast"
	"orrery/restclient/restclienttest"
)

// observed is an informer of heads over a link, on a server in memory whose objects only the test
// changes.
type observed struct {
	*clustertest.Cluster
	*informer.SharedIndexInformer[*api.PartialObjectMetadata]
	t         *testing.T
	link      chaos.Link
	exhausted atomic.Bool // the process has no file descriptors left
}

// carriers are the ways in which a client reaches the server.
var carriers = []struct {
	name  string
	tls   bool // over TLS, HTTP is HTTP/2
	watch restclient.WatchTransport
}{
	{"http", false, restclient.WatchHTTP},
	{"http2", true, restclient.WatchHTTP},
	{"websocket", false, restclient.WatchWebSocket},
	{"websocket over tls", true, restclient.WatchWebSocket},
}

// overEachCarrier runs a test when the informer has run for a minute. Then it checks that the store
// equals the server, that the position was kept, and that no connection is left.
func overEachCarrier(t *testing.T, test func(t *testing.T, o *observed)) {
	for _, carrier := range carriers {
		t.Run(carrier.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &observed{t: t, Cluster: clustertest.Start(t, clustertest.Bare, nil)}
				server := restclienttest.NewServer(t, o.Server.Handler())
				if carrier.tls {
					server = restclienttest.NewTLSServer(t, o.Server.Handler(), restclienttest.NewAuthority(t), nil)
				}
				config := server.Config()
				dial := o.link.Dial(config.Dial)
				config.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					if o.exhausted.Load() {
						return nil, &net.OpError{Op: "dial", Net: network,
							Err: os.NewSyscallError("socket", syscall.EMFILE)}
					}
					return dial(ctx, network, addr)
				}
				config.Codec, config.WatchTransport = clientfast.Codec{}, carrier.watch
				config.Credentials = restclienttest.Bearer(o.Server.Token())
				client, err := restclient.New(config)
				require.NoError(t, err)
				o.SharedIndexInformer = informer.NewSharedIndexInformer(
					restclient.Metadata(client, api.ConfigMapsResource, ""),
					informer.Config[*api.PartialObjectMetadata]{
						Gears:     fast.Gears[*api.PartialObjectMetadata](),
						Reflector: reflector.Config[*api.PartialObjectMetadata]{DisableWatchList: true},
					})
				o.add("before")
				kill, ended := o.Start(o.Run)
				time.Sleep(time.Minute)
				require.Contains(t, o.GetIndexer().ListKeys(), "default/before")

				test(t, o)
				require.Contains(t, o.GetIndexer().ListKeys(), "default/missed")
				list := clustertest.Get[api.List[*api.PartialObjectMetadata]](o.Cluster, "/api/v1/configmaps").Items
				assert.Equal(t, versions(list), versions(o.GetIndexer().List()))
				assert.Equal(t, 1, o.Snapshot().Reflector.Lists, "the position was kept")
				kill()
				<-ended
				client.Close()
				synctest.Wait()
				assert.Zero(t, server.Connections())
			})
		})
	}
}

// versions returns the versions of objects by key.
func versions(heads []*api.PartialObjectMetadata) map[string]string {
	all := map[string]string{}
	for _, head := range heads {
		all[head.Namespace+"/"+head.Name] = head.ResourceVersion
	}
	return all
}

func (o *observed) add(name string) {
	o.t.Helper()
	o.Must("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"`+name+`"}}`)
}

// noticed asserts that the informer asks for another watch within a minute.
func (o *observed) noticed() {
	o.t.Helper()
	before := o.Snapshot().Reflector.Watches
	time.Sleep(time.Minute)
	assert.Greater(o.t, o.Snapshot().Reflector.Watches, before, "the informer still reads a dead connection")
}

// The connections go dead without an error, while new ones work. Every transport notices within
// sixty seconds and gets the missed event without a new list.
func TestAZombieWatchIsReplacedWithinAMinute(t *testing.T) {
	overEachCarrier(t, func(t *testing.T, o *observed) {
		time.Sleep(time.Hour + 20*time.Second) // quiet and healthy
		o.link.BlackHole(true)
		o.add("missed")
		synctest.Wait()
		o.link.Heal() // connections that lost bytes stay dead
		require.Positive(t, o.link.Snapshot().Dead)
		o.noticed()
	})
}

// Nothing passes for ten minutes, on old and new connections. The informer notices within sixty
// seconds and catches up when the link is healed.
func TestADeadLinkIsNoticedWithinAMinute(t *testing.T) {
	overEachCarrier(t, func(t *testing.T, o *observed) {
		time.Sleep(10*time.Minute + 17*time.Second)
		o.link.BlackHole(true)
		o.noticed()
		o.add("missed")
		time.Sleep(9 * time.Minute)
		o.link.Heal()
		time.Sleep(3 * time.Minute) // a back-off of up to a minute, and requests lost in the hole
	})
}

// The connections break, and new ones fail because the process has no file descriptors left. The
// informer backs off, keeps store and position, and resumes when descriptors are available.
func TestNoFileDescriptorForTenMinutes(t *testing.T) {
	overEachCarrier(t, func(t *testing.T, o *observed) {
		o.exhausted.Store(true)
		o.link.Cut()
		o.add("missed")
		time.Sleep(10 * time.Minute)
		shot := o.Snapshot().Reflector
		assert.Equal(t, reflector.CauseUnreachable, reflector.CauseOf(shot.LastError), "%v", shot.LastError)
		assert.Less(t, shot.Watches, 40, "it backs off")
		assert.Contains(t, o.GetIndexer().ListKeys(), "default/before", "it keeps its store")
		o.exhausted.Store(false)
		time.Sleep(time.Minute)
	})
}

// Over HTTP/1.1 the idle timeout used to replace a quiet watch before its first bookmark: its
// position did not move, and after a compaction a relist was needed. Now the server ends the watch,
// after a bookmark, and the position is never older than a watch.
func TestAQuietWatchOverHTTP1KeepsUp(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := clustertest.Start(t, clustertest.Bare, nil)
			silent := 0
			pods := informer.NewSharedIndexInformer(restclient.Metadata(c.Admin(), api.PodsResource, ""),
				informer.Config[*api.PartialObjectMetadata]{
					Gears: fast.Gears[*api.PartialObjectMetadata](),
					Reflector: reflector.Config[*api.PartialObjectMetadata]{
						DisableWatchList: !streaming,
						Trace:            &reflector.Trace{IdleTimeout: func(time.Duration) { silent++ }},
					},
				})
			clustertest.Get[api.List[*api.Namespace]](c, "/api/v1/namespaces") // detects the server's protocol
			kill, ended := c.Start(pods.Run)
			for i := range 120 {
				body := fmt.Sprintf(`{"metadata":{"name":"other-%d"}}`, i)
				c.Must("POST", "/api/v1/namespaces", body)
				created := clustertest.Get[api.Namespace](c, fmt.Sprint("/api/v1/namespaces/other-", i))
				// A watch takes at most 40 seconds, and may have had its last bookmark two seconds
				// before the change.
				time.Sleep(43 * time.Second)
				assert.GreaterOrEqual(t, number(t, pods.LastSyncResourceVersion()), number(t, created.ResourceVersion))
				time.Sleep(17 * time.Second)
			}
			assert.Equal(t, 1, pods.Snapshot().Reflector.Rounds)
			assert.Zero(t, silent)
			kill()
			<-ended
		})
	}
}

func number(t *testing.T, version string) int {
	n, err := strconv.Atoi(version)
	require.NoError(t, err)
	return n
}
