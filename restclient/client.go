package restclient

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Client speaks to one API server. It may be used by any number of goroutines, and starts none
// itself (those of net/http end when Close is called and the last answer has been read).
type Client struct {
	cfg     Config // defaults filled in
	base    *url.URL
	pool    *pool
	limiter *rate.Limiter // nil: no limit

	inFlight, watches atomic.Int64
}

// ConfigError says which field of a Config cannot be used, and why.
type ConfigError struct {
	Field   string
	Problem string
	Err     error // the cause, if there is one
}

func (e *ConfigError) Error() string {
	text := fmt.Sprintf("the client configuration is wrong: %s %s", e.Field, e.Problem)
	if e.Err != nil {
		text += ": " + Redact(e.Err.Error())
	}
	return text
}

func (e *ConfigError) Unwrap() error { return e.Err }

// New checks the configuration and builds a Client. It reads TLS.CAFile but opens no connection.
// Its error is a *ConfigError.
func New(cfg Config) (*Client, error) {
	base, err := parseHost(cfg)
	if err != nil {
		return nil, err
	}
	cfg = withDefaults(cfg)
	if cfg.WatchTransport != WatchHTTP && cfg.WatchTransport != WatchWebSocket {
		return nil, &ConfigError{Field: "WatchTransport", Problem: fmt.Sprintf("%q is neither %q nor %q",
			cfg.WatchTransport, WatchHTTP, WatchWebSocket)}
	}
	pool, err := newPool(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{
		cfg:     cfg,
		base:    base,
		pool:    pool,
		limiter: newLimiter(cfg.QPS, cfg.Burst),
	}
	if cfg.TLS.Insecure && base.Scheme == "https" {
		c.warn(Warning{Text: "the server's certificate is not verified (insecure-skip-tls-verify): " +
			"anyone on the network path can read and change requests to " + base.Host})
	}
	return c, nil
}

// As returns a client for another part of the program: the same server and connections, and a user
// agent and a rate limit of its own, as in Config. To close either of the two closes both.
func (c *Client) As(userAgent string, qps float32, burst int) *Client {
	cfg := c.cfg
	cfg.UserAgent, cfg.QPS, cfg.Burst = userAgent, qps, burst
	cfg = withDefaults(cfg)
	return &Client{cfg: cfg, base: c.base, pool: c.pool, limiter: newLimiter(cfg.QPS, cfg.Burst)}
}

// WithListLimit returns the same client with another value of Config.MaxListBytes; 0 means the
// default. It shares everything but the counts of Snapshot.
func (c *Client) WithListLimit(bytes int) *Client {
	cfg := c.cfg
	cfg.MaxListBytes = bytes
	return &Client{cfg: withDefaults(cfg), base: c.base, pool: c.pool, limiter: c.limiter}
}

// Config returns a copy of the configuration with the defaults filled in.
func (c *Client) Config() Config { return c.cfg }

// Close closes unused connections, and the others when the last request or watch over them has
// ended. A closed client still works; it opens connections as it needs them and keeps none.
func (c *Client) Close() { c.pool.close() }

// Snapshot is what a Client is doing now. A [Trace] can count what it has done.
type Snapshot struct {
	Host     string
	InFlight int64   // attempts without a complete answer, except open watches
	Watches  int64   // open watches
	QPS      float32 // 0: no limit
	Burst    int
	Tokens   float64 // what is left of the burst; negative: that many requests wait
}

// Snapshot returns the state of the client.
func (c *Client) Snapshot() Snapshot {
	s := Snapshot{Host: c.base.String(), InFlight: c.inFlight.Load(), Watches: c.watches.Load()}
	if c.limiter != nil {
		s.QPS, s.Burst, s.Tokens = c.cfg.QPS, c.cfg.Burst, c.limiter.Tokens()
	}
	return s
}

// Format prints the server and nothing secret, whatever the verb.
func (c *Client) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "restclient.Client(%v)", c.base) }

func parseHost(cfg Config) (*url.URL, error) {
	base, err := url.Parse(cfg.Host)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		// the error of package url would quote it, and a password in it
		return nil, &ConfigError{Field: "Host", Problem: "is not an http:// or https:// URL"}
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, &ConfigError{Field: "Host", Problem: "has a user name, a query or a fragment"}
	}
	base.Path = strings.TrimRight(base.Path, "/")
	base.RawPath = strings.TrimRight(base.RawPath, "/")
	return base, nil
}

func withDefaults(cfg Config) Config {
	if cfg.QPS == 0 {
		cfg.QPS = DefaultQPS
	}
	if cfg.Burst <= 0 {
		cfg.Burst = max(1, int(2*cfg.QPS))
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.MaxRetries = cmp.Or(cfg.MaxRetries, DefaultMaxRetries)
	cfg.MaxRetryAfter = cmp.Or(cfg.MaxRetryAfter, DefaultMaxRetryAfter)
	cfg.MaxFrameBytes = cmp.Or(cfg.MaxFrameBytes, DefaultMaxFrameBytes)
	cfg.MaxBodyBytes = cmp.Or(cfg.MaxBodyBytes, DefaultMaxBodyBytes)
	cfg.MaxListBytes = cmp.Or(cfg.MaxListBytes, DefaultMaxListBytes)
	cfg.PingInterval = cmp.Or(cfg.PingInterval, DefaultPingInterval)
	cfg.PingTimeout = cmp.Or(cfg.PingTimeout, DefaultPingTimeout)
	cfg.WatchTransport = cmp.Or(cfg.WatchTransport, WatchHTTP)
	cfg.Codec = cmp.Or(cfg.Codec, PlainCodec())
	cfg.UserAgent = cmp.Or(cfg.UserAgent, DefaultUserAgent())
	return cfg
}
