package credentials

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenFilePeriod is how long a token is used before the file is read again. Kubernetes renews a
// service account's token after four fifths of its lifetime, which is at least ten minutes.
const tokenFilePeriod = 50 * time.Second

// FileError reports that a file with a credential, or a kubeconfig, cannot be used.
type FileError struct {
	Path string
	What string // "token", "client certificate", "client key", "kubeconfig"
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("cannot use the %s file %s: %v", e.What, e.Path, plainCause(e.Err))
}

func (e *FileError) Unwrap() error { return e.Err }

// plainCause removes verb and path from an error of package os.
func plainCause(err error) error {
	if pathError, ok := err.(*os.PathError); ok {
		return pathError.Err
	}
	return err
}

// TokenFile is a bearer token in a file that another program renews: the kubelet for service
// accounts. Create it with [NewTokenFile].
//
// While the file cannot be read the last token read stays in use, until the server refuses it.
type TokenFile struct {
	described
	noCertificate

	path string // immutable

	// The mutex is held during a read of the small, local file: concurrent callers share it.
	mu       sync.Mutex
	token    string    // empty: none was read, or the last one was refused
	freshTil time.Time // when to read again
}

// NewTokenFile reads the file once. Its error is a [*FileError].
func NewTokenFile(path string) (*TokenFile, error) {
	t := &TokenFile{described: described("bearer token in " + path), path: path}
	if _, err := t.current(); err != nil {
		return nil, err
	}
	return t, nil
}

// Apply sets the Authorization header, and reads the file if that is due.
func (t *TokenFile) Apply(req *http.Request) error {
	token, err := t.current()
	if err != nil {
		return err
	}
	return setAuthorization(req, bearer(token))
}

// Unauthorized drops the token if it is the refused one, not one read since.
func (t *TokenFile) Unauthorized(req *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && req.Header.Get(authorization) == bearer(t.token) {
		t.token = ""
	}
}

func (t *TokenFile) current() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.token != "" && now.Before(t.freshTil) {
		return t.token, nil
	}
	token, err := readToken(t.path)
	switch {
	case err == nil:
		t.token, t.freshTil = token, now.Add(tokenFilePeriod)
		return token, nil
	case t.token != "":
		return t.token, nil
	}
	return "", err
}

func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	token := strings.TrimSpace(string(data))
	if err == nil && token == "" {
		err = errEmptyFile
	}
	if err == nil {
		err = checkToken(token)
	}
	if err != nil {
		return "", &FileError{Path: path, What: "token", Err: err}
	}
	return token, nil
}

var errEmptyFile = errors.New("the file is empty")

// CertificateConfig locates a client certificate and its key. Data takes precedence over files.
type CertificateConfig struct {
	CertData, KeyData []byte // PEM
	CertFile, KeyFile string // PEM files, read again at each handshake
}

// Certificate is a client certificate. Create it with [NewCertificate].
//
// Files are read again at each call of ClientCertificate. While they cannot be read, or do not
// match because only one has been replaced yet, the last good pair stays in use until it expires.
type Certificate struct {
	described
	constant

	cfg CertificateConfig // immutable

	// The mutex is held during a read, so that concurrent callers share it.
	mu        sync.Mutex
	cert, key []byte           // the sources of pair
	pair      *tls.Certificate // last good one; the same pointer as long as cert and key are the same
}

// NewCertificate loads the certificate once. The error is a [*FileError], or that of crypto/tls.
func NewCertificate(cfg CertificateConfig) (*Certificate, error) {
	c := &Certificate{described: "client certificate", cfg: cfg}
	if len(cfg.CertData) == 0 {
		c.described = described("client certificate in " + cfg.CertFile)
	}
	if err := c.reloadLocked(); err != nil { // not shared yet
		return nil, err
	}
	return c, nil
}

// Apply does nothing: the handshake uses the certificate.
func (c *Certificate) Apply(*http.Request) error { return nil }

// ClientCertificate returns the present certificate.
func (c *Certificate) ClientCertificate() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.reloadLocked()
	if err != nil && time.Now().After(c.pair.Leaf.NotAfter) {
		return nil, err
	}
	return c.pair, nil
}

// reloadLocked changes nothing if the files are unchanged or unusable.
func (c *Certificate) reloadLocked() error {
	cert, err := dataOrFile(c.cfg.CertData, c.cfg.CertFile, "client certificate")
	if err != nil {
		return err
	}
	key, err := dataOrFile(c.cfg.KeyData, c.cfg.KeyFile, "client key")
	if err != nil {
		return err
	}
	if c.pair != nil && bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	pair, err := parsePair(cert, key)
	if err != nil {
		return err
	}
	c.cert, c.key, c.pair = cert, key, pair
	return nil
}

func dataOrFile(data []byte, path, what string) ([]byte, error) {
	if len(data) > 0 {
		return data, nil
	}
	data, err := os.ReadFile(path)
	if err == nil && len(data) == 0 {
		err = errEmptyFile
	}
	if err != nil {
		return nil, &FileError{Path: path, What: what, Err: err}
	}
	return data, nil
}

func parsePair(cert, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the client certificate cannot be used: %w", err)
	}
	return &pair, nil
}
