package restclienttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority signs certificates for tests.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      atomic.Int64
}

// Leaf describes a certificate. It can be used by servers and by clients.
type Leaf struct {
	Name   string   // common name: the user name of a client
	Groups []string // organizations: the groups of a client
	Hosts  []string // names and addresses of a server
	Valid  time.Duration
}

// NewAuthority returns an authority with a new key.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: "orrery test authority"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &Authority{certificate: certificate, key: key}
}

// PEM returns the authority's own certificate.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Pool returns a pool with the authority in it.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Issue signs a certificate with a new key. Valid 0 means a year; a negative one makes a
// certificate that has expired.
func (a *Authority) Issue(t testing.TB, leaf Leaf) *tls.Certificate {
	t.Helper()
	issued := a.issue(t, leaf)
	pair, err := tls.X509KeyPair(issued.Cert, issued.Key)
	require.NoError(t, err)
	return &pair
}

func (a *Authority) issue(t testing.TB, leaf Leaf) Pair {
	t.Helper()
	if leaf.Valid == 0 {
		leaf.Valid = 365 * 24 * time.Hour
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial.Add(1)),
		Subject:      pkix.Name{CommonName: leaf.Name, Organization: leaf.Groups},
		NotBefore:    now.Add(min(-time.Hour, leaf.Valid-time.Hour)),
		NotAfter:     now.Add(leaf.Valid),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range leaf.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}
}

// Pair is a client certificate and its key, both PEM.
type Pair struct{ Cert, Key []byte }

// NewPair returns a certificate with the common name that is valid for an hour. No two have the
// same key.
func NewPair(t testing.TB, commonName string) Pair {
	t.Helper()
	return NewAuthority(t).issue(t, Leaf{Name: commonName, Valid: time.Hour})
}
