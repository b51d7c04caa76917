package restclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"
)

// Config says which server to speak to, and how. The zero value of every field but Host is useful.
// A Config is a plain value: copy it and change the copy. New copies what it needs, later changes
// have no effect on a Client.
type Config struct {
	// Host is the server's base URL, "https://10.0.0.1:6443", with or without a path in front of
	// "/api" and "/apis" ("https://rancher.example/k8s/clusters/c-1"). Without a scheme it is https
	// if TLS has any field set that only makes sense there, otherwise http. Required.
	Host string

	// TLS says how the server proves its identity.
	TLS TLS

	// Credentials prove ours. Nil: anonymous.
	Credentials Credentials

	// Proxy chooses the proxy for a request, nil URL for none. A nil func means
	// http.ProxyFromEnvironment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). http, https and socks5 proxies
	// work. Use http.ProxyURL for a fixed one.
	Proxy func(*http.Request) (*url.URL, error)

	// Dial opens the network connections. Nil: a net.Dialer with 30 s limit and keep-alive (see
	// PingInterval). Tests plug net.Pipe here.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// WrapTransport, if not nil, may put something between the client and its connections, for
	// instance to record traffic or to inject faults. It sees requests with their credentials.
	// Websocket watches do not pass through it.
	WrapTransport func(http.RoundTripper) http.RoundTripper

	// QPS is the number of requests per second that this Client sends in the long run, and Burst
	// how many may go out at once after a pause. QPS 0 means DefaultQPS, Burst 0 means twice the
	// QPS (at least 1). A negative QPS means no limit. All goroutines that use the Client share the
	// limit. Watches are not counted; repeated attempts are.
	QPS   float32
	Burst int

	// MaxRetries bounds how often one request is repeated, see "Failure" in the package
	// documentation. 0 means DefaultMaxRetries, negative means never.
	MaxRetries int

	// MaxRetryAfter is the longest wait that a Retry-After header may ask for. If the server asks
	// for more the answer is returned as an error at once. 0 means DefaultMaxRetryAfter.
	MaxRetryAfter time.Duration

	// Timeout limits one attempt of a request, from the moment that it leaves the rate limit until
	// its body is read. It is also sent to the server (query parameter "timeout"). Watches are not
	// limited. 0: no limit other than the context's.
	Timeout time.Duration

	// PingInterval is how long a connection in use may be silent before it is pinged, and
	// PingTimeout how long the answer may take before the connection is closed. Pings are those
	// of HTTP/2, those of a websocket, and, where Dial is nil, TCP keep-alive probes. Without
	// them a request would wait for ever on a connection whose peer is gone (half-open). 0 means
	// DefaultPingInterval and DefaultPingTimeout.
	PingInterval time.Duration
	PingTimeout  time.Duration

	// SilenceTimeout is the longest time in which nothing may come while an answer is awaited or
	// read; then the attempt fails as TimedOut. For a watch it ends when the watch is open. It is
	// for connections that no ping can prove dead (plain HTTP through a proxy) and for servers that
	// hang: an API server ends its requests after a minute. 0 means DefaultSilenceTimeout; a
	// negative value means no limit.
	SilenceTimeout time.Duration

	// UserAgent is sent with each request. Empty: DefaultUserAgent().
	UserAgent string

	// DisableCompression stops the client from asking for gzip.
	DisableCompression bool

	// Codec reads the answers of Metadata resources. Nil: PlainCodec, which is encoding/json.
	// fast.Codec of package restclient/fast asks for protobuf, is several times faster, and keeps
	// less memory.
	Codec Codec

	// WatchTransport is how watches are carried: WatchHTTP (also the zero value) or WatchWebSocket.
	WatchTransport WatchTransport

	// MaxFrameBytes bounds one watch event, MaxBodyBytes one object or error body (not a list,
	// which is decoded as it arrives, item by item, each bounded by MaxFrameBytes). 0 means
	// DefaultMaxFrameBytes and DefaultMaxBodyBytes.
	MaxFrameBytes int
	MaxBodyBytes  int

	// Trace observes requests. Nil costs one branch per hook.
	Trace *Trace
}

// TLS says how the server proves its identity.
type TLS struct {
	// CAData holds PEM certificates that sign the server's; it wins over CAFile, which names a file
	// that is read again when it changes. Both empty: the machine's own list of authorities.
	CAData []byte
	CAFile string

	// ReadCA, if not nil, is asked for the PEM certificates instead, now and then (see
	// CheckInterval), from any goroutine. When they change new requests go over new connections.
	ReadCA func() ([]byte, error)

	// ServerName is compared with the certificate instead of the host's name.
	ServerName string

	// Insecure accepts any server certificate, and calls Trace.Warning. It excludes CAData, CAFile
	// and ReadCA.
	Insecure bool

	// CheckInterval is how often CAFile and Credentials.ClientCertificate are checked between
	// handshakes. 0 means DefaultTLSCheckInterval.
	CheckInterval time.Duration
}

// wanted reports whether anything is set that makes sense over https only.
func (t TLS) wanted() bool {
	return len(t.CAData) > 0 || t.CAFile != "" || t.ReadCA != nil || t.ServerName != "" || t.Insecure
}

// String names the type of the credentials, and nothing that may be secret, as a Host can be before
// New has checked it. Printing a Config with fmt never shows Credentials.
func (c Config) String() string {
	credentials := "none"
	if c.Credentials != nil {
		credentials = fmt.Sprintf("%T", c.Credentials)
	}
	return "restclient.Config(credentials " + credentials + ")"
}

// GoString is String: %#v must not print credentials either.
func (c Config) GoString() string { return c.String() }

// WatchTransport names the two ways in which an API server streams watch events.
type WatchTransport string

const (
	WatchHTTP      WatchTransport = "http"      // chunked HTTP response body; the default
	WatchWebSocket WatchTransport = "websocket" // one websocket message per event
)

// Defaults for the zero values of Config.
const (
	DefaultQPS              = 50
	DefaultMaxRetries       = 10
	DefaultMaxRetryAfter    = 5 * time.Minute
	DefaultPingInterval     = 30 * time.Second
	DefaultPingTimeout      = 15 * time.Second
	DefaultSilenceTimeout   = 90 * time.Second
	DefaultMaxFrameBytes    = 32 << 20
	DefaultMaxBodyBytes     = 64 << 20
	DefaultTLSCheckInterval = time.Minute
)

// Credentials authenticate requests. Package restclient/credentials holds the usual kinds (tokens,
// token files, exec plugins, client certificates, impersonation); a test can write its own in a few
// lines.
//
// All methods may be called from many goroutines at once. Nothing that they produce is ever logged,
// put into an error or handed to a trace hook.
type Credentials interface {
	// Apply sets the headers (Authorization, Impersonate-...) on a request that is about to be
	// sent. It may block, for instance while an exec plugin runs, but no longer than req.Context()
	// lives. Its error ends the request and reaches the caller as a *TransportError with Kind
	// CredentialsFailed.
	Apply(req *http.Request) error

	// Unauthorized is called after a 401 answer to req, so that cached tokens are dropped. The
	// client then calls Apply on a copy of the request; if that changes its credentials (or
	// ClientCertificate returns another certificate) the request is repeated, once.
	Unauthorized(req *http.Request)

	// ClientCertificate returns the certificate for TLS handshakes, or nil and no error for none.
	// It is asked at each handshake and, because connections live long, also now and then in
	// between (at most once in TLS.CheckInterval): when a different pointer is returned, new
	// requests go over new connections. So return the same pointer as long as the certificate is
	// the same.
	ClientCertificate() (*tls.Certificate, error)
}

// DefaultUserAgent names the program, its version and the platform: "orrery/v1.2.0 (linux/amd64)".
// API servers take the part before the slash as the field manager of what the program writes.
func DefaultUserAgent() string {
	program, version := filepath.Base(os.Args[0]), "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return program + "/" + version + " (" + runtime.GOOS + "/" + runtime.GOARCH + ")"
}
