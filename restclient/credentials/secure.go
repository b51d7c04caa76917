package credentials

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// InsecureTransportError says that a secret was held back because it would have travelled in the clear.
type InsecureTransportError struct {
	Host string // host and port of the request
}

func (e *InsecureTransportError) Error() string {
	return fmt.Sprintf("credentials are not sent to %s over plain http: use https, or \"kubectl proxy\" on this machine", e.Host)
}

// Allowed tells whether tokens and passwords may be sent to u: over https (and wss) to any host, over plain http only to
// this very machine, that is to a loopback address, "localhost" or a name below ".localhost" (RFC 6761).
//
// client-go sends them over https alone, and silently asks as nobody otherwise. Loopback is let through here because
// nothing leaves the machine, and an API server for a demo needs no certificates then. Everywhere else the request
// fails with an [*InsecureTransportError], since an unexplained 401 helps nobody.
func Allowed(u *url.URL) bool {
	switch u.Scheme {
	case "https", "wss":
		return true
	case "http", "ws":
		return isLoopback(u.Hostname())
	default:
		return false
	}
}

func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func checkTransport(u *url.URL) error {
	if Allowed(u) {
		return nil
	}
	return &InsecureTransportError{Host: u.Host}
}
