package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// authority signs the certificates of the server and its administrator. Its key exists only in
// memory.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// certificateLifetime is the lifetime of all certificates, longer than that of the server.
const certificateLifetime = 365 * 24 * time.Hour

// clockSkew is how far in the past certificates become valid, for clients with slow clocks.
const clockSkew = time.Hour

// newAuthority returns an authority with a new key.
func newAuthority() (*authority, error) {
	template := template(pkix.Name{CommonName: "orrery certificate authority"}, x509.KeyUsageCertSign)
	template.IsCA, template.BasicConstraintsValid = true, true
	a := &authority{certificate: template}
	der, key, err := a.issue(template)
	if err != nil {
		return nil, err
	}
	a.key = key
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

// PEM returns the authority's certificate in PEM.
func (a *authority) PEM() []byte { return certificatePEM(a.certificate.Raw) }

// issueServer signs a certificate for a server with these names and addresses.
func (a *authority) issueServer(hosts []string) (*tls.Certificate, error) {
	template := template(pkix.Name{CommonName: "orrery"}, x509.KeyUsageDigitalSignature)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, key, err := a.issue(template)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// issueClient signs a certificate for a user and returns it with its key, both in PEM.
func (a *authority) issueClient(user User) (certificate, key []byte, err error) {
	template := template(pkix.Name{CommonName: user.Name, Organization: user.Groups}, x509.KeyUsageDigitalSignature)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, private, err := a.issue(template)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	return certificatePEM(der), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), err
}

// issue signs a certificate for a new key. That of the authority is signed by itself.
func (a *authority) issue(template *x509.Certificate) (der []byte, key *ecdsa.PrivateKey, err error) {
	key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating a key for %s: %w", template.Subject, err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	if der, err = x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, signer); err != nil {
		return nil, nil, fmt.Errorf("signing the certificate of %s: %w", template.Subject, err)
	}
	return der, key, nil
}

func template(subject pkix.Name, usage x509.KeyUsage) *x509.Certificate {
	now := time.Now()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil { // no randomness available
		panic(err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(certificateLifetime),
		KeyUsage:     usage,
	}
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
