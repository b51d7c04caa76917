package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// healthChecks are the parts that /livez?verbose and its like name. All of them are in this process, so whoever gets an answer at
// all knows that they work; readyz says no from the moment on that the server is being stopped.
var healthChecks = []string{"ping", "log", "etcd"}

// serveHealth answers /healthz, /livez and /readyz, as a whole and check by check, to any method.
func (x *exchange) serveHealth() error {
	parts := strings.Split(strings.Trim(x.r.URL.Path, "/"), "/")
	kind, checks := parts[0], healthChecks
	if kind == "readyz" {
		checks = append(slices.Clip(checks), "informer-sync", "shutdown")
	}
	if len(parts) > 1 {
		if len(parts) > 2 || !slices.Contains(checks, parts[1]) {
			x.notFoundText()
			return nil
		}
		checks = parts[1:]
	}
	var report strings.Builder
	healthy := true
	for _, check := range checks {
		switch {
		case slices.Contains(x.query["exclude"], check):
			fmt.Fprintf(&report, "[+]%s excluded: ok\n", check)
		case check == "shutdown" && x.server.stopping():
			healthy = false
			fmt.Fprintf(&report, "[-]%s failed: reason withheld\n", check)
		default:
			fmt.Fprintf(&report, "[+]%s ok\n", check)
		}
	}
	_, verbose := x.query["verbose"]
	switch {
	case !healthy:
		x.sendText(http.StatusInternalServerError, report.String()+kind+" check failed\n")
	case verbose && len(parts) == 1:
		x.sendText(http.StatusOK, report.String()+kind+" check passed\n")
	default:
		x.sendText(http.StatusOK, "ok")
	}
	return nil
}
