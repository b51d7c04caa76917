package leaderelection

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// freeLease is a Lease that nobody holds. It grants everything.
type freeLease struct{ released func() }

func (l *freeLease) Get(context.Context, string, api.GetOptions) (*api.Lease, error) {
	return &api.Lease{}, nil
}

func (l *freeLease) Create(_ context.Context, lease *api.Lease, _ api.UpdateOptions) (*api.Lease, error) {
	return lease, nil
}

func (l *freeLease) Update(_ context.Context, lease *api.Lease, _ api.UpdateOptions) (*api.Lease, error) {
	if lease.Spec.HolderIdentity == "" {
		l.released()
	}
	return lease, nil
}

// The work has ended when the Lease is given back. What it has left to be sent, such as an Event of how it ended, leaves meanwhile:
// the lease still lasts. Broken connections would lose it.
func TestTheFenceIsOpenWhileTheLeaseIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fence Fence
		conn, _ := fenced(t, &fence)
		var alive context.Context
		leases, released := &freeLease{}, false
		leases.released = func() {
			released = true
			assert.Error(t, alive.Err(), "the work is over before another one begins")
			_, err := conn.Write([]byte("12345"))
			assert.NoError(t, err)
		}
		e, err := New(Config{Leases: leases, Namespace: "kube-system", Name: "orrery", Identity: "a", Fence: &fence})
		require.NoError(t, err)
		require.NoError(t, e.Run(t.Context(), func(ctx context.Context, _ Term) { alive = ctx }))
		assert.True(t, released)
		_, err = conn.Write([]byte("12345"))
		assert.NoError(t, err, "nor does it close behind one that has ended well")
	})
}

// How long the predecessor led is told by its own clock, and not forgotten when it gives the Lease back.
func TestATermTellsForHowLongThePredecessorLed(t *testing.T) {
	for _, given := range []bool{false, true} {
		began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		other := candidate{identity: "b", timing: Timing{}.withDefaults()}
		c := candidate{identity: "a", timing: other.timing}
		now := moment{wall: time.Now()}
		write := func(lease *api.Lease) *api.Lease { c.observe(lease, now); return lease }
		other.won(write(other.renewal(moment{wall: began})), 0, now)
		other.won(write(other.renewal(moment{wall: began.Add(7 * time.Second)})), 0, now)
		if given {
			write(other.give(moment{wall: began.Add(8 * time.Second)}).lease)
		}
		now.local += time.Hour
		c.won(c.renewal(now), now.local, now)
		assert.Equal(t, "b", c.term.Predecessor)
		assert.Equal(t, 7*time.Second, c.term.Tenure, "given back: %v", given)
	}
}
