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

// Who follows learns from the Lease whether the one before was at work, or led and had not begun yet; whether it gave the Lease
// back or died. What is said there of somebody who led earlier does not count.
func TestATermTellsWhetherThePredecessorWorked(t *testing.T) {
	for _, given := range []bool{false, true} {
		var now moment
		c := candidate{identity: "a", timing: Timing{}.withDefaults()}
		lease := c.renewal(now)
		assert.Empty(t, lease.Annotations)
		term := func(identity string, works bool) Term {
			other := candidate{identity: identity, timing: c.timing}
			other.observe(lease, now)
			other.won(other.renewal(now), 0, now)
			other.atWork = works
			now.wall = now.wall.Add(time.Second)
			lease = other.renewal(now)
			other.won(lease, 0, now)
			c.observe(lease, now)
			if given {
				lease = other.give(now).lease
				c.observe(lease, now)
			}
			successor := c
			successor.won(successor.renewal(now), 0, now)
			return successor.term
		}
		assert.False(t, term("b", false).Worked)
		assert.True(t, term("c", true).Worked)
		assert.Equal(t, "c", lease.Annotations[AtWorkAnnotation])
		assert.False(t, term("d", false).Worked, "that was said by c")
		assert.Empty(t, lease.Annotations)
	}
}
