package leaderelection

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// freeLease is a Lease without a holder. It grants every request.
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

// When the Lease is released, the work has ended. Requests that are still unsent, such as its
// last Event, go out meanwhile: the lease still lasts. Closing the connections would lose them.
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
		assert.NoError(t, err, "the fence stays open after a clean end")
	})
}

// The watch may show the Lease from the second read before the response arrives. A Lease that was
// renewed meanwhile proves nothing.
func TestTheSilenceIsThatOfTheLeaseThatIsThere(t *testing.T) {
	stamped := func(version string, at time.Time) *api.Lease {
		stamp, seconds := api.NewMicroTime(at), int32(15)
		lease := &api.Lease{Spec: api.LeaseSpec{HolderIdentity: "a", LeaseDurationSeconds: &seconds, RenewTime: &stamp}}
		lease.ResourceVersion = version
		lease.ManagedFields = api.NewManagedFields(fmt.Appendf(nil, `[{"time":%q,"fieldsV1":{"f:renewTime":{}}}]`, at.UTC().Format(time.RFC3339)))
		return lease
	}
	began := time.Unix(1e9, 0)
	now := moment{local: time.Hour, wall: began.Add(time.Minute)}
	for version, free := range map[string]bool{"7": true, "8": false} {
		c := candidate{identity: "b", timing: Timing{}.withDefaults()}
		c.observe(stamped("7", began), now)
		c.observe(stamped(version, began), now)
		c.lookBack(stamped("7", began), stamped("9", now.wall), now)
		assert.Equal(t, free, c.mayTake(now.local), version)
	}
}

// A successor learns from the Lease whether its predecessor worked or led without beginning, and
// whether it released the Lease or died. Records of earlier leaders do not count.
func TestATermReportsWhetherThePredecessorWorked(t *testing.T) {
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
		assert.False(t, term("d", false).Worked, "c wrote it")
		assert.Empty(t, lease.Annotations)
	}
}

// Taking, renewing and releasing write the whole Lease. Fields that belong to others, or to a newer
// API, stay.
func TestEachWriteKeepsWhatOthersWroteIntoTheLease(t *testing.T) {
	const text = `{"newTop":1,"metadata":{"newMeta":2,"ownerReferences":[{"uid":"1","newOwner":3}]},
		"spec":{"strategy":"OldestEmulationVersion","preferredHolder":"b","newSpec":4}}`
	var now moment
	lease := &api.Lease{}
	require.NoError(t, json.Unmarshal([]byte(text), lease))
	c := candidate{identity: "a", timing: Timing{}.withDefaults()}
	c.observe(lease, now)
	take := c.renewal(now)
	c.won(take, 0, now)
	writes := map[string]*api.Lease{"take": take, "renew": c.renewal(now), "release": c.give(now).lease}
	for name, lease := range writes {
		data, err := json.Marshal(lease)
		require.NoError(t, err)
		for _, field := range []string{
			`"newTop":1`, `"newMeta":2`, `"newOwner":3`, `"newSpec":4`,
			`"strategy":"OldestEmulationVersion"`, `"preferredHolder":"b"`,
		} {
			assert.Contains(t, string(data), field, name)
		}
	}
}
