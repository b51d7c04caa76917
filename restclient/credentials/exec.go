package credentials

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"orrery/restclient/internal/flight"
)

// InteractiveMode says whether an exec plugin may prompt the user.
type InteractiveMode string

const (
	InteractiveNever       InteractiveMode = "Never"
	InteractiveIfAvailable InteractiveMode = "IfAvailable" // the plugin gets standard input if that is a terminal
	InteractiveAlways      InteractiveMode = "Always"      // the same: without a terminal, the plugin fails
)

// ExecConfig describes an exec credential plugin, a program that prints credentials
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
type ExecConfig struct {
	APIVersion      string // ExecV1 or ExecV1beta1. Required.
	Command         string // a path, or a name to be looked up in PATH. Required.
	Args            []string
	Env             []EnvVar        // added to the environment of this process
	InstallHint     string          // shown if the command is not found
	InteractiveMode InteractiveMode // empty means InteractiveIfAvailable for ExecV1beta1; ExecV1 requires it
	Cluster         *ExecCluster    // if not nil, it is passed to the plugin
	Stderr          io.Writer       // receives the plugin's messages; nil: os.Stderr
}

// EnvVar is an environment variable. Its value may be secret.
type EnvVar struct {
	Name  string
	Value string
}

const (
	// freshCertificate is the age below which a plugin's certificate survives a 401. A request does
	// not contain the certificate, so the refused request may have used its predecessor.
	freshCertificate = 10 * time.Second
	// freshCredential is how long a credential is used even if it has expired by this machine's
	// clock, which may be hours fast: the plugin must not run for each request.
	freshCredential = 10 * time.Second
	// renewalPause is the shortest time between two runs after a 401: a plugin whose new output is
	// refused as well must not run for each request.
	renewalPause = 10 * time.Second
)

// Exec is an exec credential plugin. Create it with [NewExec].
//
// The plugin's output is used until its expirationTimestamp by the clock of this machine, at least
// for ten seconds, or until the server answers 401, which also helps if the clock is slow. After a
// 401 it runs once in ten seconds at most. There is one run at a time; requests that need the
// result wait for it, each until its own context ends. Clients that share an Exec share the result.
type Exec struct {
	described
	cfg    ExecConfig // immutable
	flight *flight.Flight[*execCredential]

	mu      sync.Mutex
	last    *execCredential // nil: the plugin has not run; immutable
	refused bool            // the server has answered 401 to last
	renewed time.Time       // the end of the last run because of that
}

// execCredential is the output of a plugin.
type execCredential struct {
	token       string // secret; may be empty if there is a certificate
	cert, key   []byte // PEM; both or none
	certificate *tls.Certificate
	expires     time.Time // zero: not known
	obtained    time.Time
}

// NewExec checks the configuration. The plugin runs at its first use. The error is an [*ExecError].
func NewExec(cfg ExecConfig) (*Exec, error) {
	if cfg.InteractiveMode == "" && cfg.APIVersion == ExecV1beta1 {
		cfg.InteractiveMode = InteractiveIfAvailable
	}
	cfg.Args, cfg.Env = slices.Clone(cfg.Args), slices.Clone(cfg.Env)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	e := &Exec{described: described("exec plugin " + cfg.Command), cfg: cfg}
	e.flight = flight.New(e.renew)
	return e, nil
}

// Apply sets the Authorization header if the plugin printed a token. It does not run the plugin if
// the header is already set.
func (e *Exec) Apply(req *http.Request) error {
	if req.Header.Get(authorization) != "" {
		return nil
	}
	credential, err := e.current(req.Context())
	if err != nil || credential.token == "" {
		return err
	}
	return setAuthorization(req, bearer(credential.token))
}

// ClientCertificate returns the certificate that the plugin printed, if any. The pointer stays the
// same while the certificate does.
func (e *Exec) ClientCertificate() (*tls.Certificate, error) {
	credential, err := e.current(context.Background())
	if err != nil {
		return nil, err
	}
	return credential.certificate, nil
}

// Unauthorized makes the plugin run again if the server refused its last output, and no run because
// of a refusal has just ended.
func (e *Exec) Unauthorized(req *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last != nil && e.last.wasSentWith(req) && time.Since(e.renewed) >= renewalPause {
		e.refused = true
	}
}

func (c *execCredential) wasSentWith(req *http.Request) bool {
	if c.token != "" {
		return req.Header.Get(authorization) == bearer(c.token)
	}
	return time.Since(c.obtained) >= freshCertificate
}

func (e *Exec) current(ctx context.Context) (*execCredential, error) {
	if credential := e.usable(); credential != nil {
		return credential, nil
	}
	credential, _, err := e.flight.Do(ctx)
	return credential, err
}

// usable returns the plugin's last output, or nil if that has expired or was refused.
func (e *Exec) usable() *execCredential {
	e.mu.Lock()
	defer e.mu.Unlock()
	expired := e.last != nil && !e.last.expires.IsZero() && time.Now().After(e.last.expires) &&
		time.Since(e.last.obtained) >= freshCredential
	if e.refused || expired {
		return nil
	}
	return e.last
}

// renew runs the plugin, unless another run has just ended with a usable result.
func (e *Exec) renew(ctx context.Context) (*execCredential, error) {
	if credential := e.usable(); credential != nil {
		return credential, nil
	}
	credential, err := e.cfg.run(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last != nil && bytes.Equal(credential.cert, e.last.cert) && bytes.Equal(credential.key, e.last.key) {
		credential.certificate = e.last.certificate
	}
	if e.refused {
		e.renewed = time.Now()
	}
	e.last, e.refused = credential, false
	return credential, nil
}
