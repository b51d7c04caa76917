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
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
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
	later := []TransportErrorKind{ConnectionFailed, HostNotFound, HostUnreachable, ConnectionLost, TimedOut, Canceled,
		ConnectionDead}
	for kind := ConnectionFailed; kind <= Redirected; kind++ {
		err := fmt.Errorf("while listing: %w", &TransportError{Kind: kind, Err: syscall.ENOENT})
		reported, ok := errors.AsType[interface {
			error
			Unreachable() bool
		}](err)
		require.True(t, ok)
		assert.Equal(t, slices.Contains(later, kind), reported.Unreachable(), "%d", kind)
	}
}

func TestTransportErrorText(t *testing.T) {
	err := &TransportError{Kind: HostUnreachable, Verb: "GET", URL: "https://h:6443/api?limit=1",
		Err: errors.New("connection refused, Bearer abc")}
	assert.EqualError(t, err,
		"GET https://h:6443/api?limit=1: the server https://h:6443 cannot be reached: connection refused, "+
			"Bearer [redacted]")

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
		{"http://joe:p@ss@proxy:3128", "http://[redacted]@proxy:3128"},
		{"client_secret=abc&id_token=def", "client_secret=[redacted]&id_token=[redacted]"},
		{"mail to joe@example.org", "mail to joe@example.org"},
	} {
		assert.Equal(t, c.want, Redact(c.text))
	}
	assert.Equal(t, "[redacted]...", withoutCutSecret("canary...", "canary-and-more"), "the shortest part of a secret")
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
		assert.Equal(t, c.want, parseWarnings(http.Header{"Warning": c.lines}), c.name)
	}
}

func TestLimiterGivesTokensOfCancelledWaitersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, 1)
		_, err := takeToken(t.Context(), l)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := takeToken(ctx, l)
			failed <- err
		}()
		synctest.Wait()
		assert.InDelta(t, -1, l.Tokens(), 1e-9)
		cancel()
		assert.ErrorIs(t, <-failed, context.Canceled)
		assert.InDelta(t, 0, l.Tokens(), 1e-9, "the token of a waiter that has gone is lost")

		_, err = takeToken(ctx, l)
		assert.ErrorIs(t, err, context.Canceled, "a dead context takes no token")
		assert.InDelta(t, 0, l.Tokens(), 1e-9)
	})
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
		ok          bool
	}{
		{"", "", 0, false},
		{"0", "", 0, true},
		{"7", "", 7 * time.Second, true},
		{" 7 ", "", 7 * time.Second, true},
		{"-1", "", 0, false},
		{"soon", "", 0, false},
		{"99999999999999999999", "", 0, false},
		{"Sun, 01 Mar 2026 12:00:09 GMT", "", 9 * time.Second, true},
		{"Sun, 01 Mar 2026 11:00:00 GMT", "", 0, true},
		// The server's clock is an hour ahead of ours; the difference by its own clock counts.
		{"Sun, 01 Mar 2026 13:00:04 GMT", "Sun, 01 Mar 2026 13:00:00 GMT", 4 * time.Second, true},
	} {
		header := http.Header{}
		header.Set("Retry-After", c.value)
		if c.date != "" {
			header.Set("Date", c.date)
		}
		got, ok := parseRetryAfter(header, now)
		assert.Equal(t, c.ok, ok, "%q", c.value)
		assert.Equal(t, c.want, got, "%q", c.value)
	}
}

// silentServer answers every request without a network.
type silentServer struct{}

func (silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")),
		Request: r}, nil
}

func allHooks() *Trace {
	return &Trace{
		RequestStart: func(RequestInfo) {}, RequestDone: func(RequestInfo, RequestResult) {},
		Finished: func(RequestInfo, RequestResult) {},
		Retry:    func(RequestInfo, time.Duration, error) {}, Throttled: func(RequestInfo, time.Duration) {},
		WatchOpened: func(RequestInfo) {}, WatchFrame: func(RequestInfo, api.WatchEventType, int) {},
		WatchClosed: func(RequestInfo, int64, time.Duration, error) {}, Warning: func(Warning) {},
	}
}

// A request allocates the same without a trace, with nil hooks and with all hooks: hooks take
// their arguments by value.
func TestTraceCostsNoAllocation(t *testing.T) {
	do := func(trace *Trace) float64 {
		c, err := New(Config{Host: "http://x", QPS: -1, Trace: trace,
			WrapTransport: func(http.RoundTripper) http.RoundTripper { return silentServer{} }})
		require.NoError(t, err)
		return leastAllocations(func() { c.Do(t.Context(), Request{Path: "/"}, nil) })
	}
	base := do(nil)
	assert.LessOrEqual(t, do(&Trace{}), base, "nil hooks")
	assert.LessOrEqual(t, do(allHooks()), base, "all hooks")
}

// leastAllocations returns how many allocations f needs if each sync.Pool has what it asks for. The
// race detector empties pools at random.
func leastAllocations(f func()) float64 {
	least := testing.AllocsPerRun(1, f)
	for range 200 {
		least = min(least, testing.AllocsPerRun(1, f))
	}
	return least
}
