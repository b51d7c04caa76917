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
	// emulatedDemo is what a server calls itself that is not alone, see Config.Demo.
	emulatedDemo = emulated + ".demo"
	// compatibleMinor is the oldest release that a component of this version works with.
	compatibleMinor = "35"
)

// versionDocument is api.VersionInfo with what newer servers say besides.
type versionDocument struct {
	api.VersionInfo
	EmulationMajor        string `json:"emulationMajor"`
	EmulationMinor        string `json:"emulationMinor"`
	MinCompatibilityMajor string `json:"minCompatibilityMajor"`
	MinCompatibilityMinor string `json:"minCompatibilityMinor"`
}

// serveVersion answers /version.
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
