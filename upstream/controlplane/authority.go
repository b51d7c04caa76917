package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime is the validity of every certificate: longer than any test or workshop, and short enough
// that an old directory opens nothing.
const lifetime = 30 * 24 * time.Hour

// clockSkew backdates certificates, for machines whose clock jumps back.
const clockSkew = time.Hour

// authority is a certificate authority of one control plane, in memory and in its directory.
//
// As in a kubeadm cluster there are three: for the API server and its clients, for etcd, and for
// the aggregation layer's front proxy. A client certificate of the cluster must not open etcd, and
// the front proxy's may name any user.
type authority struct {
	cert    *x509.Certificate
	certPEM []byte
	key     crypto.Signer
}

// keyPair is a certificate with its private key, both PEM encoded.
type keyPair struct {
	CertPEM []byte
	KeyPEM  []byte
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate the key of authority %s: %w", name, err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	certPEM, err := signCertificate(template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign authority %s: %w", name, err)
	}
	block, _ := pem.Decode(certPEM)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read back authority %s: %w", name, err)
	}
	return &authority{cert: cert, certPEM: certPEM, key: key}, nil
}

// client issues a client certificate: Kubernetes takes the user from the subject's common name and
// the groups from its organizations.
func (a *authority) client(user string, groups ...string) (keyPair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// server issues a serving certificate for the loopback addresses, "localhost" and the extra names.
//
// It is valid for clients too: etcd's HTTP gateway presents it to etcd's own gRPC port.
func (a *authority) server(name string, extra ...string) (keyPair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    append([]string{"localhost"}, extra...),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	})
}

func (a *authority) issue(template *x509.Certificate) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("generate the key of %s: %w", template.Subject.CommonName, err)
	}
	certPEM, err := signCertificate(template, a.cert, key.Public(), a.key)
	if err != nil {
		return keyPair{}, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := encodePrivateKey(key)
	if err != nil {
		return keyPair{}, fmt.Errorf("encode the key of %s: %w", template.Subject.CommonName, err)
	}
	return keyPair{CertPEM: certPEM, KeyPEM: keyPEM}, nil
}

// newSigningKey generates the key pair that signs and verifies service account tokens.
func newSigningKey() (privatePEM, publicPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generate the service account key: %w", err)
	}
	privatePEM, err = encodePrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the service account key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("encode the service account public key: %w", err)
	}
	return privatePEM, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// signCertificate adds a serial number and the validity, and signs.
func signCertificate(template, parent *x509.Certificate, public crypto.PublicKey,
	signer crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-clockSkew)
	template.NotAfter = time.Now().Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// encodePrivateKey returns SEC 1 ("EC PRIVATE KEY"), the form that Kubernetes' own tools write.
func encodePrivateKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
