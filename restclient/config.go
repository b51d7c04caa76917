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
// A Config is a plain value: New copies what it needs, later changes have no effect on a Client.
type Config struct {
	// Host is the server's base URL, "https://10.0.0.1:6443", with or without a path in front of
	// "/api" and "/apis". Required.
	Host        string
	TLS         TLS
	Credentials Credentials // nil: anonymous

	// Proxy chooses the proxy for a request (http, https or socks5), nil URL for none. A nil func
	// means http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial opens the network connections. Nil: a net.Dialer with a limit of 30 s and keep-alive.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// WrapTransport, if not nil, may put something between the client and its connections. It sees
	// requests with their credentials. Websocket watches do not pass through it.
	WrapTransport func(http.RoundTripper) http.RoundTripper

	// QPS is the number of attempts per second in the long run, and Burst how many may go out at
	// once after a pause; watches are not counted. QPS 0 means DefaultQPS, negative no limit; Burst
	// 0 means twice the QPS (at least 1).
	QPS   float32
	Burst int

	// MaxRetries bounds how often one request is repeated, see "Failure" above. 0 means
	// DefaultMaxRetries, negative means never.
	MaxRetries int
	// MaxRetryAfter is the longest wait that a Retry-After header may ask for. If the server asks
	// for more the answer is returned as an error at once. 0 means DefaultMaxRetryAfter.
	MaxRetryAfter time.Duration
	// Timeout limits one attempt of a request other than a watch, from the moment that it leaves
	// the rate limit until its body is read: a server that sends a byte now and then is not silent.
	// 0 means DefaultTimeout; a negative value means no limit other than the context's.
	Timeout time.Duration

	// PingInterval is how long a connection in use may be silent before it is pinged (HTTP/2,
	// websocket and, where Dial is nil, TCP keep-alive), and PingTimeout how long the answer may
	// take before the connection is closed. 0 means DefaultPingInterval and DefaultPingTimeout.
	PingInterval time.Duration
	PingTimeout  time.Duration
	UserAgent    string // empty: DefaultUserAgent()

	// Codec reads the answers of Metadata resources. Nil: PlainCodec, which is encoding/json;
	// fast.Codec of package restclient/fast is several times faster, and keeps less memory.
	Codec Codec
	// WatchTransport is how watches are carried: WatchHTTP (also the zero value) or WatchWebSocket.
	WatchTransport WatchTransport

	// MaxFrameBytes bounds one watch event or one item of a list, MaxBodyBytes one object or raw
	// body. 0 means DefaultMaxFrameBytes and DefaultMaxBodyBytes.
	MaxFrameBytes int
	MaxBodyBytes  int
	// MaxListBytes bounds one answer to a list or to deleting a collection. 0 means
	// DefaultMaxListBytes, which suits an informer of a big cluster. The textbook's codec takes up
	// to four times the size of a list.
	MaxListBytes int

	Trace *Trace // observes requests; nil costs one branch per hook
}

// TLS says how the server proves its identity.
type TLS struct {
	// CAData holds PEM certificates that sign the server's; it wins over CAFile, which names a file
	// that is read again once a minute. Both empty: the machine's own list of authorities.
	CAData []byte
	CAFile string

	ServerName string // compared with the certificate instead of the host's name
	// Insecure accepts any server certificate, and calls Trace.Warning. It excludes CAData and
	// CAFile.
	Insecure bool
}

// Format prints the type of the credentials, whatever the verb, and nothing that may be secret, as
// a Host can be before New has checked it.
func (c Config) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "restclient.Config(credentials %T)", c.Credentials)
}

// WatchTransport names the two ways in which an API server streams watch events.
type WatchTransport string

const (
	WatchHTTP      WatchTransport = "http"      // chunked HTTP response body; the default
	WatchWebSocket WatchTransport = "websocket" // one websocket message per event
)

// Defaults for the zero values of Config.
const (
	DefaultQPS           = 50
	DefaultTimeout       = 15 * time.Minute
	DefaultMaxRetries    = 10
	DefaultMaxRetryAfter = 5 * time.Minute
	DefaultPingInterval  = 30 * time.Second
	DefaultPingTimeout   = 15 * time.Second
	DefaultMaxFrameBytes = 32 << 20
	DefaultMaxBodyBytes  = 64 << 20
	DefaultMaxListBytes  = 1 << 30
)

// Credentials authenticate requests; package restclient/credentials holds the usual kinds. All
// methods may be called from many goroutines at once.
type Credentials interface {
	// Apply sets the headers (Authorization, Impersonate-...) on a request that is about to be
	// sent. It may block, for instance while an exec plugin runs, but no longer than req.Context()
	// lives. Its error ends the request as a *TransportError with Kind CredentialsFailed.
	Apply(req *http.Request) error
	// Unauthorized is called after a 401 answer to req, so that cached tokens are dropped. If Apply
	// or ClientCertificate then returns other credentials, the request is repeated, once.
	Unauthorized(req *http.Request)
	// ClientCertificate returns the certificate for TLS handshakes, or nil and no error for none.
	// It is asked at each handshake and at most once a minute in between: after a different
	// pointer, new requests go over new connections.
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
