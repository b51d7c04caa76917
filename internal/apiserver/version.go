package apiserver

import (
	"net/http"
	"runtime"

	"orrery/restclient/api"
)

// emulated is the release of Kubernetes whose answers this server gives.
const (
	emulatedMajor = "1"
	emulatedMinor = "36"
	emulated      = "v1.36.3+orrery"
)

// serveVersion answers /version.
func (x *exchange) serveVersion() error {
	return x.sendJSON(http.StatusOK, api.VersionInfo{
		Major: emulatedMajor, Minor: emulatedMinor, GitVersion: emulated,
		GitCommit: "", GitTreeState: "clean", BuildDate: "1970-01-01T00:00:00Z",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	})
}
