package credentials

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"orrery/restclient/internal/flight"
)

// InteractiveMode says whether an exec plugin may speak with the user.
type InteractiveMode string

const (
	InteractiveNever       InteractiveMode = "Never"
	InteractiveIfAvailable InteractiveMode = "IfAvailable" // standard input is handed to the plugin if it is a terminal
	InteractiveAlways      InteractiveMode = "Always"      // an error if standard input is not a terminal
)

// ExecConfig describes an exec credential plugin, a program that prints credentials
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
type ExecConfig struct {
	// APIVersion is ExecV1 or ExecV1beta1. Required.
	APIVersion string

	// Command is a path or a name to be looked up in PATH. Required.
	Command string
	Args    []string

	// Env is added to the environment of this process.
	Env []EnvVar

	// InstallHint is shown if the command is not found.
	InstallHint string

	// InteractiveMode empty means InteractiveIfAvailable for ExecV1beta1; ExecV1 requires it.
	InteractiveMode InteractiveMode

	// Cluster is told to the plugin, if not nil.
	Cluster *ExecCluster

	// Stdin is handed to the plugin if InteractiveMode is not Never. Nil: os.Stdin if that is a terminal.
	Stdin *os.File

	// Stderr receives what the plugin tells the user. Nil: os.Stderr.
	Stderr io.Writer
}

// EnvVar is an environment variable. Its value may be secret.
type EnvVar struct {
	Name  string
	Value string
}

const (
	// freshCertificate is how young a certificate of a plugin must be to survive a 401. Unlike a token, a certificate leaves
	// no trace in the request, so the refused request may well have been made with its predecessor.
	freshCertificate = 10 * time.Second
	// freshCredential is for how long what a plugin printed is used although it says that it has expired: the clock of this
	// machine may be hours ahead of the one that made it, and the plugin should not run for each request then.
	freshCredential = 10 * time.Second
)

// Exec is an exec credential plugin. Create it with [NewExec].
//
// What the plugin prints is used until its expirationTimestamp by the clock of this machine, at least for ten seconds, or until
// the server answers 401: that is what counts if the clock is behind. There is one run at a time; all
// requests that need the result wait for it, each no longer than the context of its request lives. To share the result among
// clients give all of them the same Exec.
type Exec struct {
	described
	cfg    ExecConfig // immutable
	flight *flight.Flight[*execCredential]

	mu      sync.Mutex
	last    *execCredential // nil: the plugin has not run; what it points to is immutable
	refused bool            // the server has answered 401 to last
}

// execCredential is what a plugin printed.
type execCredential struct {
	token       string // secret; may be empty if there is a certificate
	cert, key   []byte // PEM; both or none
	certificate *tls.Certificate
	expires     time.Time // zero: not known
	obtained    time.Time
}

// NewExec checks the configuration. The plugin runs when it is needed first. The error is an [*ExecError].
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

// Apply sets the Authorization header if the plugin printed a token. It does not run the plugin if the header is set
// already.
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

// ClientCertificate returns the certificate that the plugin printed, if it printed one. The pointer stays the same as
// long as the plugin prints the same certificate.
func (e *Exec) ClientCertificate() (*tls.Certificate, error) {
	credential, err := e.current(context.Background())
	if err != nil {
		return nil, err
	}
	return credential.certificate, nil
}

// Unauthorized makes the plugin run again, if what it printed last is what the server refused.
func (e *Exec) Unauthorized(req *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last != nil && e.last.wasSentWith(req) {
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

// usable returns what the plugin printed last, or nil if that has expired or was refused.
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

// renew runs the plugin. A caller who found nothing usable just before the previous run ended comes here too, and needs
// no run any more.
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
	e.last, e.refused = credential, false
	return credential, nil
}
