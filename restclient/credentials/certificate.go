package credentials

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

var errEmptyFile = errors.New("the file is empty")

// CertificateConfig locates a client certificate and its key. Data takes precedence over files.
type CertificateConfig struct {
	CertData, KeyData []byte // PEM
	CertFile, KeyFile string // PEM files, read again at each handshake
}

// Certificate is a client certificate. Create it with [NewCertificate].
//
// Files are read again at each call of ClientCertificate: at each handshake, and periodically by
// package restclient, so that requests move to new connections after a renewal. While the files
// cannot be read, or do not match because only one has been replaced yet, the last good pair stays
// in use until it expires.
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
