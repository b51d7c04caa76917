package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
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
		return &statusError{method: method, url: e.url + path, code: response.StatusCode,
			body: strings.TrimSpace(string(data))}
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

// port is a TCP port of the loopback interface.
type port int

// reserved are the ports of this process's control planes, also while nothing listens on them, as
// during a restart of the API server.
var reserved sync.Map // of port

// reservePort returns a port that is neither in use nor reserved in this process.
func reservePort() (port, error) {
	for range maxPortAttempts {
		p := port(firstPort + rand.IntN(lastPort-firstPort))
		listener, err := net.Listen("tcp", p.address())
		if err != nil {
			continue
		}
		listener.Close()
		if _, taken := reserved.LoadOrStore(p, true); !taken {
			return p, nil
		}
	}
	return 0, fmt.Errorf("reserve a port: none of %d ports tried between %d and %d is free",
		maxPortAttempts, firstPort, lastPort)
}

// address returns "127.0.0.1:port".
func (p port) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(p))) }
