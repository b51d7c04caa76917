package chaos_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
)

// nowhere is a store that keeps nothing.
type nowhere struct{}

func (nowhere) Add(*api.PartialObjectMetadata) error               { return nil }
func (nowhere) Update(*api.PartialObjectMetadata) error            { return nil }
func (nowhere) Delete(*api.PartialObjectMetadata) error            { return nil }
func (nowhere) Replace([]*api.PartialObjectMetadata, string) error { return nil }
func (nowhere) Resync() error                                      { return nil }

// Over HTTP/1.1 the idle timeout used to replace a quiet watch before its first bookmark: its
// position did not move, and after a compaction a relist was needed. Now the server ends the watch,
// after a bookmark, and the position is never older than a watch.
func TestAQuietWatchOverHTTP1KeepsUp(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := clustertest.Start(t, clustertest.Bare, nil)
			ctx, cancel := context.WithCancel(context.Background())
			silent := 0
			pods := machine.New(reflector.Config[*api.PartialObjectMetadata]{
				Name:          "pods",
				ListerWatcher: restclient.Metadata(c.Admin(), api.PodsResource, ""),
				Store:         nowhere{},
				KeyFunc: func(pod *api.PartialObjectMetadata) (string,
					error) {
					return pod.Namespace + "/" + pod.Name, nil
				},
				DisableWatchList: !streaming,
				Trace:            &reflector.Trace{IdleTimeout: func(time.Duration) { silent++ }},
			})
			namespaces := restclient.Typed[*api.Namespace](c.Admin(), api.NamespacesResource, "")
			_, err := namespaces.List(ctx, api.ListOptions{}) // detects the server's protocol
			require.NoError(t, err)

			var running sync.WaitGroup
			running.Go(func() { pods.Run(ctx) })
			for i := range 120 {
				namespace := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("other-", i)}}
				created, err := namespaces.Create(ctx, namespace, api.UpdateOptions{})
				require.NoError(t, err)
				// A watch takes at most 40 seconds, and may have had its last bookmark two seconds
				// before the change.
				time.Sleep(43 * time.Second)
				assert.GreaterOrEqual(t, number(t, pods.LastSyncResourceVersion()), number(t, created.ResourceVersion))
				time.Sleep(17 * time.Second)
			}
			shot := pods.Snapshot()
			assert.Equal(t, 1, shot.Rounds)
			assert.Zero(t, silent)
			cancel()
			running.Wait()
		})
	}
}

func number(t *testing.T, version string) int {
	n, err := strconv.Atoi(version)
	require.NoError(t, err)
	return n
}
