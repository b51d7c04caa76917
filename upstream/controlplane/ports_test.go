package controlplane

import (
	"net"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReservedPorts(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ports, err := reservePorts(50)
	require.NoError(t, err)
	defer releasePorts(ports)

	seen := make(map[int]bool)
	for _, p := range ports {
		assert.False(t, seen[p.number], "port %d was given twice", p.number)
		seen[p.number] = true
		assert.GreaterOrEqual(t, p.number, firstPort)
		assert.Less(t, p.number, lastPort)
		assert.Equal(t, "127.0.0.1:"+strconv.Itoa(p.number), p.address())
		listener, err := net.Listen("tcp", p.address())
		require.NoError(t, err, "a reserved port is free to listen on")
		require.NoError(t, listener.Close())
	}
}

// A port stays reserved while nothing listens on it, as during a restart of the API server.
func TestReservedPortIsRefusedToOthers(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p, err := reservePort()
	require.NoError(t, err)
	dir := filepath.Dir(p.lock.Name())

	_, err = lockPort(dir, p.number)
	assert.ErrorIs(t, err, syscall.EWOULDBLOCK)

	releasePorts([]port{p})
	assert.NoDirExists(t, dir, "a released port leaves no file, and the last one no directory")
	lock, err := lockPort(dir, p.number)
	require.NoError(t, err)
	unlockPort(lock)
}

func TestListenable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	number := listener.Addr().(*net.TCPAddr).Port
	assert.False(t, listenable(number))
	require.NoError(t, listener.Close())
	assert.True(t, listenable(number))
}
