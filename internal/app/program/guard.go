package program

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Guard protects a server without authentication from web pages. A page in a browser can make its
// own name resolve to 127.0.0.1 (DNS rebinding) and then read the answers of a local server. Its
// requests still have the page's host in the Host header: the handler refuses them with 403. A
// request passes to next if its Host is a loopback name or address, or an address on which the
// server listens, of those that are served, with or without a port. If that is every address of the
// machine, any IP address passes, and any name without a dot or that ends with .svc or
// .cluster.local, the names of Services. An Origin, if there is one, must be the server itself.
func Guard(next http.Handler, served ...string) http.Handler {
	g := &guard{next: next}
	for _, address := range served {
		host := hostOf(address)
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			g.anywhere = true
			continue
		}
		g.hosts = append(g.hosts, host)
	}
	return g
}

type guard struct {
	next     http.Handler
	hosts    []string
	anywhere bool // the server listens on every address of the machine
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	switch {
	case r.Host != "" && !g.knows(hostOf(r.Host)): // browsers always send a Host
		http.Error(w, fmt.Sprintf("this server is not called %q: use %s", r.Host, g.names()), http.StatusForbidden)
	case origin != "" && !sameOrigin(origin, r.Host):
		http.Error(w,
			fmt.Sprintf("requests from pages of %q are refused: open it under the address of the server itself",
				origin), http.StatusForbidden)
	default:
		g.next.ServeHTTP(w, r)
	}
}

// knows reports whether host is a name of the server.
func (g *guard) knows(host string) bool {
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "localhost" || err == nil && ip.IsLoopback() || slices.Contains(g.hosts, host):
		return true
	case !g.anywhere:
		return false
	case err == nil:
		return !ip.IsUnspecified()
	default:
		return !strings.Contains(host, ".") || strings.HasSuffix(host, ".svc") ||
			strings.HasSuffix(host, ".cluster.local")
	}
}

// names returns the names by which clients may reach the server.
func (g *guard) names() string {
	names := []string{"localhost", "a loopback address"}
	for _, host := range g.hosts {
		if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
			names = append(names, host)
		}
	}
	if g.anywhere {
		names = append(names, "an IP address of this machine", "a name without a dot", "*.svc", "*.cluster.local")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// hostOf returns an address without its port, in lower case and without a trailing dot.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(address, "[]"), "."))
}

func sameOrigin(origin, host string) bool {
	parsed, err := url.Parse(origin)
	return err == nil && parsed.Host != "" && strings.EqualFold(parsed.Host, host)
}
