package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "orrery certificate authority"},
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
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
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "orrery"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
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
	der, private, err := a.issue(&x509.Certificate{
		Subject:  pkix.Name{CommonName: user.Name, Organization: user.Groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	return certificatePEM(der), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), err
}

// issue signs a certificate for a new key. That of the authority is signed by itself.
func (a *authority) issue(template *x509.Certificate) (der []byte, key *ecdsa.PrivateKey, err error) {
	template.NotBefore, template.NotAfter = time.Now().Add(-clockSkew), time.Now().Add(certificateLifetime)
	key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	// Without a serial number in the template it is random.
	der, err = x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, signer)
	return der, key, err
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
