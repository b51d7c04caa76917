package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// requestTimeout bounds one request of this package, for small objects. It is for a server that
// hangs, not for a busy machine.
const requestTimeout = time.Minute

// endpoint is a server of the control plane, reached over TLS with a client certificate.
type endpoint struct {
	url    string
	client *http.Client
}

// statusError is a response with another code than 200.
type statusError struct {
	method, url string
	code        int
	body        string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: status %d: %s", e.method, e.url, e.code, e.body)
}

func newEndpoint(url string, caPEM []byte, pair keyPair) (*endpoint, error) {
	cert, err := tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	if err != nil {
		return nil, fmt.Errorf("client certificate for %s: %w", url, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(caPEM) {
		return nil, fmt.Errorf("no certificate authority for %s", url)
	}
	return &endpoint{url: url, client: &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}},
			// A kept connection would leave a goroutine behind when its server stops.
			DisableKeepAlives: true,
		},
	}}, nil
}

// get sends a GET request and decodes the JSON response into result unless that is nil.
func (e *endpoint) get(ctx context.Context, path string, result any) error {
	return e.do(ctx, http.MethodGet, path, nil, result)
}

// post sends body as JSON and decodes the JSON response into result unless that is nil.
func (e *endpoint) post(ctx context.Context, path string, body, result any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return e.do(ctx, http.MethodPost, path, bytes.NewReader(data), result)
}

func (e *endpoint) do(ctx context.Context, method, path string, body io.Reader, result any) error {
	request, err := http.NewRequestWithContext(ctx, method, e.url+path, body)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, e.url+path, err)
	}
	if response.StatusCode != http.StatusOK {
		return &statusError{method: method, url: e.url + path, code: response.StatusCode, body: strings.TrimSpace(string(data))}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(data, result); err != nil {
		return fmt.Errorf("%s %s: %w", method, e.url+path, err)
	}
	return nil
}

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
