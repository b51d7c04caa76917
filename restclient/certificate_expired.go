package restclient

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"time"

	"orrery/restclient/api"
)

// CertificateExpiredError says why the server does not know us (401): the client certificate that we showed has expired. The
// server itself only says "Unauthorized". It wraps the server's answer.
type CertificateExpiredError struct {
	NotAfter time.Time // the last moment of the certificate
	Err      error
}

func (e *CertificateExpiredError) Error() string {
	return fmt.Sprintf("the client certificate expired at %s and has not been renewed: %v", e.NotAfter.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap returns the server's answer.
func (e *CertificateExpiredError) Unwrap() error { return e.Err }

// explainUnauthorized adds to a 401 what can be known of its reason. The time is the server's, where it tells it: it is the
// server that has found the certificate too old.
func (p *pool) explainUnauthorized(err error, date string) error {
	if api.CodeOf(err) != http.StatusUnauthorized {
		return err
	}
	p.mu.Lock()
	certificate := p.certificate
	p.mu.Unlock()
	if certificate == nil || len(certificate.Certificate) == 0 {
		return err
	}
	leaf := certificate.Leaf
	if leaf == nil {
		var problem error
		if leaf, problem = x509.ParseCertificate(certificate.Certificate[0]); problem != nil {
			return err
		}
	}
	now := time.Now()
	if serverNow, problem := http.ParseTime(date); problem == nil {
		now = serverNow
	}
	if !now.After(leaf.NotAfter) {
		return err
	}
	return &CertificateExpiredError{NotAfter: leaf.NotAfter, Err: err}
}
