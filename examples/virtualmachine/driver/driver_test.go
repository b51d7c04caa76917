package driver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine/driver"
)

// request is one that every driver can satisfy.
func request(name string) driver.CreateRequest {
	return driver.CreateRequest{Name: name, CPU: 500, Memory: 256 << 20}
}

func TestMemory(t *testing.T) {
	d := &driver.Memory{Capacity: 1 << 30}
	create := func(name string) {
		t.Helper()
		require.NoError(t, d.CreateServer(t.Context(), request(name)))
	}
	remove := func(name string) {
		t.Helper()
		require.NoError(t, d.DeleteServer(t.Context(), name))
	}
	status := func(name string) driver.Status {
		t.Helper()
		status, err := d.GetServerStatus(t.Context(), name)
		require.NoError(t, err)
		exists, err := d.IsServerExist(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, status.State == driver.Running, exists)
		return status
	}
	assert.Equal(t, driver.Ended, status("a").State, "a missing server counts as ended")
	remove("a") // and can be deleted
	create("a")
	create("b")
	first := status("a")
	assert.Equal(t, driver.Running, first.State)
	assert.NotEmpty(t, first.ID)
	assert.Positive(t, first.MemoryPercentage)
	assert.Less(t, first.MemoryPercentage, 100.0)
	create("a")
	assert.Equal(t, first.ID, status("a").ID, "one that runs is not created again")
	d.End("a", "ended by the test")
	assert.Equal(t, driver.Ended, status("a").State)
	assert.Equal(t, "ended by the test", status("a").Reason)
	create("a")
	assert.Equal(t, driver.Running, status("a").State, "one that has ended is replaced")
	assert.NotEqual(t, first.ID, status("a").ID)
	remove("a")
	assert.Equal(t, map[string]driver.CreateRequest{"b": request("b")}, d.Servers(), "the other one is left alone")

	var refused *driver.RefusedError
	assert.ErrorAs(t, d.CreateServer(t.Context(), driver.CreateRequest{Name: "large", Memory: 2 << 30}), &refused)
	over, end := context.WithCancelCause(t.Context())
	why := errors.New("no more")
	end(why)
	for _, err := range calls(over, d) {
		assert.ErrorIs(t, err, why)
	}
	assert.Equal(t, []string{"b"}, d.Names())
}

func TestMemoryThatOutlivesTheProgram(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	open := func() *driver.Memory {
		d, err := driver.NewMemory(dir)
		require.NoError(t, err)
		return d
	}
	first, standby := open(), open()
	require.NoError(t, first.CreateServer(t.Context(), request("a")))
	require.NoError(t, first.CreateServer(t.Context(), request("b")))
	require.NoError(t, first.DeleteServer(t.Context(), "b"))
	assert.Equal(t, map[string]driver.CreateRequest{"a": request("a")}, open().Servers())
	exists, err := standby.IsServerExist(t.Context(), "a")
	require.NoError(t, err)
	assert.True(t, exists, "another replica has created it")

	require.NoError(t, first.CreateServer(t.Context(), request("a-later-one")))
	again := open()
	require.NoError(t, again.CreateServer(t.Context(), request("b")))
	ids := map[string]bool{}
	for _, name := range []string{"a", "a-later-one", "b"} {
		status, err := again.GetServerStatus(t.Context(), name)
		require.NoError(t, err)
		ids[status.ID] = true
	}
	assert.Len(t, ids, 3, "a server has an ID of its own, also after a restart of the program")

	require.NoError(t, os.Remove(filepath.Join(dir, "servers.json")))
	require.NoError(t, first.CreateServer(t.Context(), request("c")))
	assert.Equal(t, []string{"c"}, open().Names(), "a server that somebody has removed comes back")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "servers.json"), []byte("nonsense"), 0o600))
	for name, err := range calls(t.Context(), first) {
		assert.Error(t, err, "%s: no server is created or considered gone", name)
	}
	_, err = driver.NewMemory(dir)
	assert.Error(t, err)
}

// stuck is a driver that answers only when its context ends.
type stuck struct{}

func (stuck) CreateServer(ctx context.Context, _ driver.CreateRequest) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s stuck) DeleteServer(ctx context.Context, _ string) error {
	return s.CreateServer(ctx, driver.CreateRequest{})
}

func (s stuck) IsServerExist(ctx context.Context, name string) (bool, error) {
	return false, s.DeleteServer(ctx, name)
}

func (s stuck) GetServerStatus(ctx context.Context, name string) (driver.Status, error) {
	return driver.Status{}, s.DeleteServer(ctx, name)
}

// calls makes each call of a driver once and returns the errors, keyed by their expected prefix.
func calls(ctx context.Context, d driver.Interface) map[string]error {
	_, exist := d.IsServerExist(ctx, "a")
	_, status := d.GetServerStatus(ctx, "a")
	return map[string]error{
		"the server cannot be created":              d.CreateServer(ctx, request("a")),
		"the server cannot be deleted":              d.DeleteServer(ctx, "a"),
		"it is not known whether the server exists": exist, "the state of the server is not known": status,
	}
}

func TestCallsHaveALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for name, err := range calls(t.Context(), driver.WithTimeout(stuck{}, time.Minute)) {
			assert.EqualError(t, err, name+": the driver did not answer in time")
			assert.ErrorIs(t, err, driver.ErrTimeout)
		}
		assert.Equal(t, 4*time.Minute, time.Since(began))
		over, end := context.WithCancel(t.Context())
		end()
		for name, err := range calls(over, driver.WithTimeout(stuck{}, time.Minute)) {
			assert.EqualError(t, err, name+": context canceled", "cancellation by the caller is not a time-out")
		}
		for name, err := range calls(t.Context(), driver.WithTimeout(&driver.Memory{}, time.Minute)) {
			assert.NoError(t, err, name)
		}
	})
}
