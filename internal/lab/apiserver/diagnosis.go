package apiserver

import (
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/resources"
)

const debugPrefix = "/debug/orrery/"

// faultsDocument is the answer to GET /debug/orrery/faults.
type faultsDocument struct {
	Active    []faults.Active `json:"active"`
	Catalogue []faults.Kind   `json:"catalogue"`
}

// serveDebug serves the faults to administrators. It is exempt from faults, so that they can be
// removed.
func (x *exchange) serveDebug() error {
	if !slices.Contains(x.user.Groups, GroupMasters) {
		return resources.Forbidden("", "", "",
			"User \""+x.user.Name+"\" is not an administrator: "+x.info.Path+" is for the group "+GroupMasters)
	}
	if !x.r.URL.Query().Has("pretty") {
		x.form.Pretty = true // people read it, by kubectl get --raw
	}
	if path, id, _ := strings.Cut(strings.TrimPrefix(x.r.URL.Path, debugPrefix), "/"); path == "faults" {
		return x.serveFaults(id)
	}
	x.notFoundText()
	return nil
}

// serveFaults lists faults (GET), adds one (POST, the body is its text) or removes one (DELETE
// faults/{id}).
func (x *exchange) serveFaults(id string) error {
	switch {
	case x.r.Method == http.MethodGet && id == "":
		return x.sendJSON(http.StatusOK, faultsDocument{Active: x.server.faults.List(), Catalogue: faults.Catalogue()})
	case x.r.Method == http.MethodPost && id == "":
		body, err := x.readBody()
		if err != nil {
			return err
		}
		made, err := x.server.faults.Add(strings.TrimSpace(string(body)))
		if invalid := (*faults.SyntaxError)(nil); errors.As(err, &invalid) {
			return resources.BadRequest(invalid.Error())
		}
		if err != nil {
			return err
		}
		return x.sendJSON(http.StatusCreated, map[string]string{"id": made})
	case x.r.Method == http.MethodDelete && id != "":
		if !x.server.faults.Remove(id) {
			return resources.NotFound("", "faults", id)
		}
		return x.sendJSON(http.StatusOK, map[string]string{"removed": id})
	}
	return resources.MethodNotAllowed()
}

// The version of Kubernetes whose answers this server gives, and that with Config.Demo.
const (
	emulated     = "v1.36.3+orrery"
	emulatedDemo = emulated + ".demo"
)

func (x *exchange) serveVersion() error {
	if x.r.Method != http.MethodGet {
		return resources.MethodNotAllowed()
	}
	version := emulated
	if x.server.config.Demo {
		version = emulatedDemo
	}
	return x.sendJSON(http.StatusOK, map[string]string{
		"major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
		"minCompatibilityMajor": "1", "minCompatibilityMinor": "35", "gitVersion": version,
		"gitCommit": "", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
		"goVersion": runtime.Version(), "compiler": runtime.Compiler, "platform": runtime.GOOS + "/" + runtime.GOARCH,
	})
}
