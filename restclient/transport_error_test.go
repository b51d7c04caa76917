package restclient

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKindOf(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	silent, hush := context.WithCancelCause(context.Background())
	hush(errSilence)
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want TransportErrorKind
	}{
		{nil, errors.New("?"), ConnectionFailed},
		{nil, dial(syscall.ECONNREFUSED), HostUnreachable},
		{nil, dial(syscall.ENETUNREACH), HostUnreachable},
		{nil, dial(syscall.EHOSTUNREACH), HostUnreachable},
		{nil, dial(syscall.ETIMEDOUT), HostUnreachable},
		{nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}},
			HostNotFound},
		{nil, &net.OpError{Op: "proxyconnect", Err: dial(syscall.ECONNREFUSED)}, ProxyFailed},
		{nil, &net.OpError{Op: "read", Err: syscall.ECONNRESET}, ConnectionLost},
		{nil, &net.OpError{Op: "read", Err: syscall.ETIMEDOUT}, ConnectionDead},
		{nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}, HostUnreachable},
		{nil, syscall.EPIPE, ConnectionLost},
		{nil, io.EOF, ConnectionLost},
		{nil, io.ErrUnexpectedEOF, ConnectionLost},
		{nil, net.ErrClosed, ConnectionLost},
		{nil, fmt.Errorf("Get: %w", errors.New("http2: client conn could not be established")), ConnectionLost},
		{nil, os.ErrDeadlineExceeded, TimedOut},
		{nil, x509.UnknownAuthorityError{}, CertificateUnknown},
		{nil, x509.HostnameError{Certificate: &x509.Certificate{}}, CertificateInvalid},
		{nil, x509.CertificateInvalidError{}, CertificateInvalid},
		{nil, &markedError{kind: CredentialsFailed, err: errors.New("x")}, CredentialsFailed},
		{cancelled, dial(syscall.ECONNREFUSED), Canceled},
		{late, io.EOF, TimedOut},
		{silent, io.EOF, TimedOut},
	} {
		if c.ctx == nil {
			c.ctx = context.Background()
		}
		assert.Equal(t, c.want, kindOf(c.ctx, c.err), "%v", c.err)
	}
	for kind := ConnectionFailed; kind <= Redirected; kind++ {
		assert.Contains(t, sentences, kind)
	}
}

// Packages that must not import this one look for this method.
func TestUnreachable(t *testing.T) {
	for kind := ConnectionFailed; kind <= Redirected; kind++ {
		err := fmt.Errorf("while listing: %w", &TransportError{Kind: kind, Err: syscall.ENOENT})
		reported, ok := errors.AsType[interface {
			error
			Unreachable() bool
		}](err)
		require.True(t, ok)
		switch kind {
		case ConnectionFailed, HostNotFound, HostUnreachable, ConnectionLost, TimedOut, Canceled, ConnectionDead:
			assert.True(t, reported.Unreachable(), kind)
		default:
			assert.False(t, reported.Unreachable(), "%d: waiting does not help", kind)
		}
	}
}

func TestTransportErrorText(t *testing.T) {
	err := &TransportError{Kind: HostUnreachable, Verb: "GET", URL: "https://h:6443/api?limit=1",
		Err: errors.New("connection refused, Bearer abc")}
	assert.EqualError(t, err,
		"GET https://h:6443/api?limit=1: the server https://h:6443 cannot be reached: connection refused, "+
			"Bearer [redacted]")
	err.URL = "::"
	assert.Contains(t, err.Error(), "the server :: cannot be reached")

	late := &TransportError{Kind: TimedOut, URL: "https://h:6443/api", Err: context.DeadlineExceeded}
	assert.Equal(t, "the server https://h:6443 did not answer in time", late.Sentence())
	late.Err = errors.New("net/http: TLS handshake timeout")
	assert.Equal(t, "the server https://h:6443 did not answer in time: net/http: TLS handshake timeout",
		late.Sentence())
}

func TestRedactText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nothing secret here", "nothing secret here"},
		{"header Bearer abc.DEF-1_2/3+4= is bad", "header Bearer [redacted] is bad"},
		{"authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted]"},
		{`invalid proxy address "http://joe:pa55@proxy:3128"`, `invalid proxy address "http://[redacted]@proxy:3128"`},
		{"https://server/x?access_token=abc&limit=1", "https://server/x?access_token=[redacted]&limit=1"},
		{"mail to joe@example.org", "mail to joe@example.org"},
	} {
		assert.Equal(t, c.want, Redact(c.text))
	}
}

func TestRedactURL(t *testing.T) {
	u, err := url.Parse("https://joe:pa55@server:6443/api/v1/pods?watch=true&labelSelector=a%3Db&continue=eyJ2&sig=s3cret")
	require.NoError(t, err)
	assert.Equal(t, "https://server:6443/api/v1/pods?continue=[...]&labelSelector=a%3Db&sig=[redacted]&watch=true",
		redactURL(u))
	assert.Contains(t, u.String(), "pa55", "the URL itself is not changed")
}

func TestParseWarnings(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  []Warning
	}{
		{"none", nil, nil},
		{"one", []string{`299 - "policy/v1beta1 is deprecated"`},
			[]Warning{{Code: 299, Agent: "-", Text: "policy/v1beta1 is deprecated"}}},
		{"two in a line, one with a date",
			[]string{`299 agent "a \"b\" \\" "Sun, 01 Mar 2026 12:00:00 GMT", 299 - "c, d"`},
			[]Warning{{Code: 299, Agent: "agent", Text: `a "b" \`}, {Code: 299, Agent: "-", Text: "c, d"}}},
		{"two lines", []string{`299 - "a"`, `299 - "b"`},
			[]Warning{{Code: 299, Agent: "-", Text: "a"}, {Code: 299, Agent: "-", Text: "b"}}},
		{"of caches, which are not meant for people", []string{`110 - "Response is Stale"`}, nil},
		{"broken ones are skipped", []string{`299`, `299 -`, `299 - unquoted`, `299 - "open`, `299 - "open\`,
			`abc - "x"`, `2999 - "x"`, `299 - "good"`},
			[]Warning{{Code: 299, Agent: "-", Text: "good"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, parseWarnings(http.Header{"Warning": c.lines}))
		})
	}
}
