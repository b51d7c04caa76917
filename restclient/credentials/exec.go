package credentials

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"orrery/restclient/api"
)

// InteractiveMode says whether an exec plugin may prompt the user.
type InteractiveMode string

const (
	InteractiveNever       InteractiveMode = "Never"
	InteractiveIfAvailable InteractiveMode = "IfAvailable" // the plugin gets standard input if that is a terminal
	InteractiveAlways      InteractiveMode = "Always"      // without a terminal, the plugin is not run
)

// ExecConfig describes an exec credential plugin, a program that prints credentials
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
// fmt and encoding/json show neither arguments nor the environment.
type ExecConfig struct {
	APIVersion  string   `yaml:"apiVersion"` // ExecV1 or ExecV1beta1. Required.
	Command     string   `yaml:"command"`    // a path, or a name to be looked up in PATH. Required.
	Args        []string `yaml:"args" json:"-"`
	Env         []EnvVar `yaml:"env" json:"-"`          // added to the environment of this process
	InstallHint string   `yaml:"installHint,omitempty"` // shown if the command is not found
	// InteractiveMode is required for ExecV1; empty means InteractiveIfAvailable for ExecV1beta1.
	InteractiveMode    InteractiveMode `yaml:"interactiveMode,omitempty"`
	ProvideClusterInfo bool            `yaml:"provideClusterInfo"` // the plugin is told Cluster

	Cluster *ExecCluster `yaml:"-" json:"-"`
	Stderr  io.Writer    `yaml:"-" json:"-"` // receives the plugin's messages; nil: os.Stderr
}

// Format shows the command, whatever the verb: without it, a verb that does not fit makes fmt print
// the fields raw.
func (cfg ExecConfig) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "[exec plugin %s]", cfg.Command) }

// EnvVar is an environment variable. Its value may be secret.
type EnvVar struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

// renewalPause is the shortest time between two runs of a plugin after a 401, and the least time
// for which a credential is used: the plugin must not run for each request if its output is
// refused, or has expired by this machine's clock. A certificate of that age survives a 401: the
// refused request may have used its predecessor.
const renewalPause = 10 * time.Second

// Exec is an exec credential plugin. Create it with [NewExec].
//
// The plugin's output is used until its expirationTimestamp by the clock of this machine, at least
// for ten seconds, or until the server answers 401, which also helps if the clock is slow. After a
// 401 it runs once in ten seconds at most. One request at a time runs it; the others wait for the
// result, each until its own context ends. Clients that share an Exec share the result.
type Exec struct {
	described
	cfg ExecConfig // immutable

	mu      sync.Mutex
	running chan struct{}   // closed when the run has ended; nil: there is none
	runs    int             // begun
	failed  error           // of the last run, unless its request was cancelled
	last    *execCredential // nil: no run has succeeded; immutable
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
	return &Exec{described: described("exec plugin " + cfg.Command), cfg: cfg}, nil
}

// Apply sets the Authorization header if the plugin printed a token, unless it is already set.
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

// Unauthorized makes the plugin run again if the server refused its last output.
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
	return time.Since(c.obtained) >= renewalPause
}

// current returns a usable credential. It runs the plugin unless another request does; then it
// waits for that run. The error of a run counts for all requests that were made before it began.
func (e *Exec) current(ctx context.Context) (*execCredential, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for called := e.runs; ; {
		switch {
		case e.usableLocked():
			return e.last, nil
		case e.runs > called && e.failed != nil:
			return nil, e.failed
		case e.running == nil:
			return e.runLocked(ctx)
		}
		running := e.running
		e.mu.Unlock()
		select {
		case <-running:
		case <-ctx.Done():
		}
		e.mu.Lock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// usableLocked reports whether the plugin's last output has neither expired nor been refused.
func (e *Exec) usableLocked() bool {
	if e.last == nil || e.refused {
		return false
	}
	expired := !e.last.expires.IsZero() && time.Now().After(e.last.expires)
	return !expired || time.Since(e.last.obtained) < renewalPause
}

// runLocked runs the plugin, without the lock.
func (e *Exec) runLocked(ctx context.Context) (*execCredential, error) {
	running := make(chan struct{})
	defer close(running)
	e.running, e.failed = running, nil
	e.runs++
	e.mu.Unlock()
	credential, err := e.cfg.run(ctx)
	e.mu.Lock()
	e.running = nil
	if err != nil {
		if ctx.Err() == nil {
			e.failed = err
		}
		return nil, err
	}
	if e.last != nil && bytes.Equal(credential.cert, e.last.cert) && bytes.Equal(credential.key, e.last.key) {
		credential.certificate = e.last.certificate
	}
	if e.refused {
		e.renewed = time.Now()
	}
	e.last, e.refused = credential, false
	return credential, nil
}

// The versions of the protocol between client and plugin.
const (
	ExecV1      = "client.authentication.k8s.io/v1"
	ExecV1beta1 = "client.authentication.k8s.io/v1beta1"
)

const execKind = "ExecCredential"

// ExecCluster tells a plugin the cluster that the credentials are for.
type ExecCluster struct {
	Server                   string `json:"server"`
	TLSServerName            string `json:"tls-server-name,omitempty"`
	InsecureSkipTLSVerify    bool   `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthorityData []byte `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string `json:"proxy-url,omitempty"`

	// Config is the extension "client.authentication.k8s.io/exec" of the cluster in the kubeconfig.
	Config json.RawMessage `json:"config,omitempty"`
}

// execAnswer is the output of the plugin.
type execAnswer struct {
	api.TypeMeta
	Status struct {
		ExpirationTimestamp   string `json:"expirationTimestamp"`
		Token                 string `json:"token"`
		ClientCertificateData string `json:"clientCertificateData"`
		ClientKeyData         string `json:"clientKeyData"`
	} `json:"status"`
}

// encodeExecRequest returns the content of the environment variable KUBERNETES_EXEC_INFO.
func encodeExecRequest(version string, cluster *ExecCluster, interactive bool) (string, error) {
	spec := map[string]any{"interactive": interactive}
	if cluster != nil {
		spec["cluster"] = cluster
	}
	data, err := json.Marshal(map[string]any{"kind": execKind, "apiVersion": version, "spec": spec})
	return string(data), err
}

// decodeExecAnswer returns the credential, or a problem. The problem does not quote the output,
// which is secret; nor does it contain errors of encoding/json, which quote values.
func decodeExecAnswer(version string, output []byte) (credential *execCredential, problem string) {
	var answer execAnswer
	switch err := api.Unmarshal(output, &answer); {
	case err != nil || answer.Kind != execKind:
		return nil, "did not print an " + execKind + " in JSON"
	case answer.APIVersion != version:
		return nil, "printed an " + execKind + " of another version than " + version +
			": correct apiVersion in its configuration"
	}
	return answer.credential()
}

func (a *execAnswer) credential() (*execCredential, string) {
	s := a.Status
	credential := &execCredential{token: strings.TrimSpace(s.Token), obtained: time.Now()}
	if checkToken(credential.token) != nil {
		return nil, "printed a token that cannot stand in an HTTP header"
	}
	if s.ExpirationTimestamp != "" {
		expires, err := time.Parse(time.RFC3339, s.ExpirationTimestamp)
		if err != nil {
			return nil, "printed an expirationTimestamp that is not an RFC 3339 time"
		}
		credential.expires = expires
	}
	hasCert, hasKey := s.ClientCertificateData != "", s.ClientKeyData != ""
	switch {
	case hasCert != hasKey:
		return nil, "printed only one of clientCertificateData and clientKeyData"
	case !hasCert && credential.token == "":
		return nil, "printed neither a token nor a client certificate"
	case !hasCert:
		return credential, ""
	}
	credential.cert, credential.key = []byte(s.ClientCertificateData), []byte(s.ClientKeyData)
	var err error
	if credential.certificate, err = parsePair(credential.cert, credential.key); err != nil {
		return nil, "printed a client certificate and key that cannot be used together"
	}
	return credential, ""
}

const (
	maxExecOutput = 1 << 20         // exceeds any token and certificate chain
	execWaitDelay = 5 * time.Second // for the pipes of a plugin after its end: a child may have inherited them
)

func (cfg *ExecConfig) check() error {
	modes := []InteractiveMode{InteractiveNever, InteractiveIfAvailable, InteractiveAlways}
	switch {
	case cfg.Command == "":
		return cfg.fail("has no command: set exec.command", nil)
	case cfg.APIVersion != ExecV1 && cfg.APIVersion != ExecV1beta1:
		return cfg.fail(fmt.Sprintf("has the apiVersion %q, which is not supported: use a version of the plugin "+
			"that speaks %s or %s", cfg.APIVersion, ExecV1, ExecV1beta1), nil)
	case slices.ContainsFunc(cfg.Env, func(env EnvVar) bool { return env.Name == "" }):
		return cfg.fail("has an environment variable without name: correct exec.env", nil)
	case !slices.Contains(modes, cfg.InteractiveMode):
		return cfg.fail(fmt.Sprintf("has the interactiveMode %q: set exec.interactiveMode to one of %v",
			cfg.InteractiveMode, modes), nil)
	}
	return nil
}

func (cfg *ExecConfig) fail(problem string, cause error) *ExecError {
	return &ExecError{Command: cfg.Command, Problem: problem, Err: cause}
}

// run runs the plugin once. The process is killed when ctx ends.
func (cfg *ExecConfig) run(ctx context.Context) (*execCredential, error) {
	interactive := cfg.InteractiveMode != InteractiveNever && term.IsTerminal(int(os.Stdin.Fd()))
	if cfg.InteractiveMode == InteractiveAlways && !interactive {
		return nil, cfg.fail("must ask the user, but standard input is not a terminal: run this program in a terminal",
			nil)
	}
	info, err := encodeExecRequest(cfg.APIVersion, cfg.Cluster, interactive)
	if err != nil {
		return nil, cfg.fail("has a cluster extension that is not valid JSON", err)
	}
	output := limitedBuffer{limit: maxExecOutput}
	cmd := exec.CommandContext(ctx, cfg.Command, cfg.Args...)
	cmd.Env = os.Environ()
	for _, v := range cfg.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Env = append(cmd.Env, "KUBERNETES_EXEC_INFO="+info)
	cmd.Stdout, cmd.Stderr = &output, cmp.Or[io.Writer](cfg.Stderr, os.Stderr)
	if interactive {
		cmd.Stdin = os.Stdin
	}
	cmd.WaitDelay = execWaitDelay
	err = cmd.Run()
	if output.overflow {
		return nil, cfg.fail(fmt.Sprintf("printed more than %d bytes", maxExecOutput), err)
	}
	if err != nil {
		return nil, cfg.runError(ctx, err)
	}
	credential, problem := decodeExecAnswer(cfg.APIVersion, output.data)
	if problem != "" {
		return nil, cfg.fail(problem, nil)
	}
	return credential, nil
}

func (cfg *ExecConfig) runError(ctx context.Context, err error) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return cfg.fail("was stopped with the request that needed it", ctx.Err())
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		missing := cfg.fail("was not found: install it or correct its path", err)
		missing.InstallHint = cfg.InstallHint
		return missing
	case errors.As(err, &exit):
		return cfg.fail(fmt.Sprintf("failed (%s): see what it wrote to standard error", exit.ProcessState), err)
	default:
		return cfg.fail("could not be run: "+plainCause(err).Error(), err)
	}
}

// limitedBuffer bounds the memory for a plugin's output.
type limitedBuffer struct {
	data     []byte
	limit    int
	overflow bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.limit {
		b.overflow = true
		return 0, io.ErrShortBuffer
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// ExecError reports that an exec plugin returned no credentials. Arguments, environment and output
// of the plugin may be secret and are never part of it.
type ExecError struct {
	Command     string
	Problem     string // a clause
	InstallHint string // of the configuration; only if the command was not found
	Err         error  // may be nil
}

func (e *ExecError) Error() string {
	text := fmt.Sprintf("exec plugin %q %s", e.Command, e.Problem)
	if e.InstallHint != "" {
		text += ": " + strconv.Quote(e.InstallHint)
	}
	return text
}

func (e *ExecError) Unwrap() error { return e.Err }
