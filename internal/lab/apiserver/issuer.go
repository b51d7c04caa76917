package apiserver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Issuer issues and verifies the tokens of service accounts: JSON Web Tokens (RFC 7519), signed
// with a key that exists only in memory.
type Issuer struct {
	key []byte
}

// ServiceAccount is the subject of a token.
type ServiceAccount struct {
	Namespace, Name, UID string
	Audiences            []string
}

// tokenIssuer is the issuer and the default audience of tokens.
const tokenIssuer = "https://kubernetes.default.svc.cluster.local"

// NewIssuer returns an issuer with a new key.
func NewIssuer() *Issuer {
	key := make([]byte, sha256.Size)
	rand.Read(key)
	return &Issuer{key: key}
}

// claims are the claims of a token.
type claims struct {
	Audience   []string `json:"aud"`
	Expires    int64    `json:"exp"`
	IssuedAt   int64    `json:"iat"`
	Issuer     string   `json:"iss"`
	NotBefore  int64    `json:"nbf"`
	Subject    string   `json:"sub"`
	Kubernetes struct {
		Namespace      string `json:"namespace"`
		ServiceAccount struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

const tokenHeader = `{"alg":"HS256","typ":"JWT"}`

// Issue returns a token for the account, valid until expires.
func (i *Issuer) Issue(account ServiceAccount, expires time.Time) string {
	now := time.Now().Unix()
	said := claims{
		Audience: account.Audiences, Expires: expires.Unix(), IssuedAt: now, NotBefore: now, Issuer: tokenIssuer,
		Subject: serviceAccountPrefix + account.Namespace + ":" + account.Name,
	}
	said.Kubernetes.Namespace = account.Namespace
	said.Kubernetes.ServiceAccount.Name = account.Name
	said.Kubernetes.ServiceAccount.UID = account.UID
	payload, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	signed := encode([]byte(tokenHeader)) + "." + encode(payload)
	return signed + "." + encode(i.sign(signed))
}

const serviceAccountPrefix = "system:serviceaccount:"

// Read returns the user of a valid token of this issuer.
func (i *Issuer) Read(token string) (User, bool) {
	cut := strings.LastIndexByte(token, '.')
	if cut < 0 {
		return User{}, false
	}
	signed := token[:cut]
	signature, err := base64.RawURLEncoding.DecodeString(token[cut+1:])
	if err != nil || !hmac.Equal(signature, i.sign(signed)) {
		return User{}, false
	}
	_, encoded, _ := strings.Cut(signed, ".")
	payload, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return User{}, false
	}
	var said claims
	if json.Unmarshal(payload, &said) != nil || time.Now().Unix() >= said.Expires {
		return User{}, false
	}
	return User{
		Name:   said.Subject,
		UID:    said.Kubernetes.ServiceAccount.UID,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + said.Kubernetes.Namespace},
	}, true
}

func (i *Issuer) sign(text string) []byte {
	mac := hmac.New(sha256.New, i.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
