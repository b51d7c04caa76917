package controlplane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Ports lie below the range of source ports for outgoing connections (32768 and up on Linux, 49152
// and up elsewhere). Otherwise a client that dials a restarting API server might be given the
// server's own port.
const (
	firstPort = 20000
	lastPort  = 32000
)

// maxPortAttempts bounds the search; among 12,000 ports only another fault reaches it.
const maxPortAttempts = 1000

// port is a reserved TCP port of the loopback interface.
//
// An unused port may be taken a moment later, and test packages run at the same time. So each port
// is also a locked file in the temporary directory, which reserves the port of a stopped server
// too. The kernel releases the lock with the process.
type port struct {
	number int
	lock   *os.File
}

// reservePort returns a port that is neither in use nor reserved by another control plane on this
// machine.
func reservePort() (port, error) {
	dir := filepath.Join(os.TempDir(), "orrery-ports-"+strconv.Itoa(os.Getuid()))
	for range maxPortAttempts {
		number := firstPort + rand.IntN(lastPort-firstPort)
		lock, err := lockPort(dir, number)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, os.ErrNotExist) {
			continue // reserved by another, or the directory was just removed
		}
		if err != nil {
			return port{}, fmt.Errorf("reserve port %d: %w", number, err)
		}
		if !listenable(number) {
			unlockPort(lock)
			continue
		}
		return port{number: number, lock: lock}, nil
	}
	return port{}, fmt.Errorf("reserve a port: none of %d ports tried between %d and %d is free", maxPortAttempts, firstPort, lastPort)
}

// reservePorts reserves n ports, or none.
func reservePorts(n int) ([]port, error) {
	ports := make([]port, 0, n)
	for range n {
		p, err := reservePort()
		if err != nil {
			releasePorts(ports)
			return nil, err
		}
		ports = append(ports, p)
	}
	return ports, nil
}

// releasePorts releases the ports. Nothing may listen on them any more.
func releasePorts(ports []port) {
	for _, p := range ports {
		unlockPort(p.lock)
	}
}

// address returns "127.0.0.1:port".
func (p port) address() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.number))
}

// lockPort returns the locked file of a port, or EWOULDBLOCK if another process holds it.
func lockPort(dir string, number int) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, strconv.Itoa(number))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, err
	}
	// The previous owner may have removed the file between the two calls. Then the lock is on a
	// file without a name, which the next process would not see.
	locked, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(locked, named) {
		file.Close()
		return nil, syscall.EWOULDBLOCK
	}
	return file, nil
}

// unlockPort removes the file before the lock is released with the descriptor, and then the
// directory if empty.
func unlockPort(file *os.File) {
	os.Remove(file.Name())
	file.Close()
	os.Remove(filepath.Dir(file.Name()))
}

func listenable(number int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(number)))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}
