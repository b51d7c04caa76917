package leaderelection

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

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
