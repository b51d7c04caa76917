package integration_test

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/reflector"
	"orrery/internal/lab/faultnet"
	"orrery/restclient"
)

// The connections break, and new ones fail because the process has no file descriptors left. The
// informers back off, keep their stores and positions, and resume when descriptors are available.
func TestNoFileDescriptorForTenMinutes(t *testing.T) {
	for _, over := range ways {
		t.Run(over.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var none atomic.Bool
				var link faultnet.Link
				w := newWorld(t, over, func(cfg *restclient.Config) {
					dial := link.Dial(cfg.Dial)
					cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
						if none.Load() {
							return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
						}
						return dial(ctx, network, addr)
					}
				})
				w.set("a", "1")
				w.run()
				defer func() { assert.NoError(t, w.stop()) }()
				time.Sleep(time.Minute)
				none.Store(true)
				link.Cut()
				w.set("b", "2")
				time.Sleep(10 * time.Minute)
				for _, s := range w.subjects {
					shot := s.Snapshot().Reflector
					var broken *restclient.TransportError
					require.ErrorAs(t, shot.LastError, &broken)
					assert.Equal(t, restclient.HostUnreachable, broken.Kind)
					assert.Equal(t, reflector.CauseUnreachable, reflector.CauseOf(shot.LastError))
					assert.Less(t, shot.Watches, 40, "it backs off")
				}
				none.Store(false)
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.NoError(t, w.verify())
				for _, s := range w.subjects {
					assert.Equal(t, 1, s.Snapshot().Reflector.Lists, "the position was kept")
				}
			})
		})
	}
}
