package apiserver

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// healthChecks are the checks listed by ?verbose. They all run in this process and pass whenever
// the server answers; readyz fails once the server is stopping.
var healthChecks = []string{"ping", "log", "etcd"}

// serveHealth answers /healthz, /livez, /readyz and their checks, for any method.
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

// emulated is the version of Kubernetes whose answers this server gives.
const (
	emulatedMajor = "1"
	emulatedMinor = "36"
	emulated      = "v1.36.3+orrery"
	// emulatedDemo is the version with Config.Demo.
	emulatedDemo = emulated + ".demo"
	// compatibleMinor is the oldest compatible minor version.
	compatibleMinor = "35"
)

// versionDocument is api.VersionInfo with the fields of newer servers.
type versionDocument struct {
	api.VersionInfo
	EmulationMajor        string `json:"emulationMajor"`
	EmulationMinor        string `json:"emulationMinor"`
	MinCompatibilityMajor string `json:"minCompatibilityMajor"`
	MinCompatibilityMinor string `json:"minCompatibilityMinor"`
}

func (x *exchange) serveVersion() error {
	version := emulated
	if x.server.config.Demo {
		version = emulatedDemo
	}
	return x.sendJSON(http.StatusOK, versionDocument{
		VersionInfo: api.VersionInfo{
			Major: emulatedMajor, Minor: emulatedMinor, GitVersion: version,
			GitCommit: "", GitTreeState: "clean", BuildDate: "1970-01-01T00:00:00Z",
			GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		},
		EmulationMajor: emulatedMajor, EmulationMinor: emulatedMinor,
		MinCompatibilityMajor: emulatedMajor, MinCompatibilityMinor: compatibleMinor,
	})
}
