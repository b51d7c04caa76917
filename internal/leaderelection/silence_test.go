package leaderelection_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/leaderelection"
	"orrery/restclient/api"
)

// stamping replaces the managed fields of Leases: with the time of the last write by the server's
// clock, or with none if the server keeps no times.
type stamping struct {
	leaderelection.Leases
	server *serverClock
}

// serverClock is the clock of a server, and the time of its last write.
type serverClock struct {
	mu      sync.Mutex
	ahead   time.Duration // difference to the clients' clocks
	noTimes bool          // it keeps no times
	written time.Time
}

func (c *serverClock) set(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}

func (c *serverClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *serverClock) stamp() {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = now
}

func (c *serverClock) lastWrite() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

func (s stamping) stamp(lease *api.Lease, err error, at time.Time) (*api.Lease, error) {
	if err == nil && (s.server.noTimes || at.IsZero()) {
		lease.ManagedFields = api.ManagedFields{}
	} else if err == nil {
		lease.ManagedFields = api.NewManagedFields(fmt.Appendf(nil,
			`[{"manager":"kubectl","time":%[2]q,"fieldsV1":{"f:metadata":{}}},{"manager":"orrery","time":%[1]q,"fieldsV1":{"f:spec":{"f:renewTime":{}}}}]`,
			at.UTC().Format(time.RFC3339), at.Add(-time.Hour).UTC().Format(time.RFC3339)))
	}
	return lease, err
}

func (s stamping) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Lease, error) {
	lease, err := s.Leases.Get(ctx, name, opts)
	return s.stamp(lease, err, s.server.lastWrite())
}

func (s stamping) Create(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	lease, err := s.Leases.Create(ctx, lease, opts)
	if err == nil {
		s.server.stamp()
	}
	return s.stamp(lease, err, s.server.lastWrite())
}

func (s stamping) Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	lease, err := s.Leases.Update(ctx, lease, opts)
	if err == nil && !opts.DryRun {
		s.server.stamp()
	}
	return s.stamp(lease, err, s.server.now())
}

// After a crash, a new candidate waited fifteen seconds for a leader that had been dead for a
// quarter of an hour. It skips the wait if the clocks prove the death, and waits if any clock is
// wrong.
func TestALeaderThatIsLongDeadIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		dead      time.Duration
		then, now time.Duration // how far the server's clock is ahead when the leader renews, and later
		unstamped bool
		waits     time.Duration
	}{
		"long dead":                    {dead: 15 * time.Minute},
		"not long dead":                {dead: 30 * time.Second, waits: 15 * time.Second},
		"clocks that differ a little":  {dead: time.Minute, then: 2 * time.Second, now: -2 * time.Second},
		"the servers' clocks differ":   {dead: time.Second, now: time.Hour, waits: 15 * time.Second},
		"the server's clock was wrong": {dead: time.Minute, then: -time.Hour, waits: 15 * time.Second},
		"a server that keeps no times": {dead: time.Hour, unstamped: true, waits: 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *place) {
				clock := &serverClock{ahead: c.then, noTimes: c.unstamped}
				stamps := func(config *leaderelection.Config) {
					config.Watch = nil
					config.Leases = stamping{config.Leases, clock}
				}
				a := p.join("a", stamps)
				time.Sleep(5 * time.Second)
				require.True(t, a.leads())
				a.die()
				time.Sleep(c.dead)
				clock.set(c.now)
				b := p.join("b", stamps)
				synctest.Wait()
				took := until(t, "b leads", b.leads)
				assert.Equal(t, c.waits, took)
				assert.GreaterOrEqual(t, b.term.Silent, c.dead+c.waits, "the term has the predecessor's silence")
				assert.Less(t, b.term.Silent, c.dead+c.waits+5*time.Second)
				if c.dead > 15*time.Second {
					assert.GreaterOrEqual(t, b.leaderSilent(), c.dead, "it says how long the leader has been silent")
				}
			})
		})
	}
}

// A working leader is never taken for dead, whichever clock is wrong.
func TestALeaderThatWorksIsWaitedFor(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, time.Hour} {
		inBubble(t, func(t *testing.T, p *place) {
			clock := &serverClock{}
			stamps := func(config *leaderelection.Config) {
				config.Watch = nil
				config.Leases = stamping{config.Leases, clock}
			}
			a := p.join("a", stamps)
			time.Sleep(5 * time.Second)
			clock.set(skew)
			b := p.join("b", stamps)
			time.Sleep(time.Minute)
			assert.True(t, a.leads())
			assert.False(t, b.leads())
		})
	}
}
