package apiserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/faults"
)

const debugPrefix = "/debug/orrery/"

// faultsDocument is the answer to GET /debug/orrery/faults.
type faultsDocument struct {
	Active    []faults.Active `json:"active"`
	Catalogue []faultKind     `json:"catalogue"`
}

// faultKind describes a kind of fault.
type faultKind struct {
	Usage   string `json:"usage"`
	Summary string `json:"summary"`
	Teaches string `json:"teaches"`
}

func faultKinds() []faultKind {
	var kinds []faultKind
	for _, kind := range faults.Catalogue() {
		kinds = append(kinds, faultKind{Usage: kind.Usage, Summary: kind.Summary, Teaches: kind.Teaches})
	}
	return kinds
}

// serveDebug serves the snapshot and the faults to administrators. It is exempt from faults, so
// that they can be removed.
func (x *exchange) serveDebug() error {
	if !slices.Contains(x.user.Groups, authn.GroupMasters) {
		return apierrors.Forbidden("", "", "", "User \""+x.user.Name+"\" is not an administrator: "+x.info.Path+" is for the group "+authn.GroupMasters)
	}
	if !x.r.URL.Query().Has("pretty") {
		x.form.Pretty = true // people read it, by kubectl get --raw
	}
	switch path, id, _ := strings.Cut(strings.TrimPrefix(x.r.URL.Path, debugPrefix), "/"); {
	case path == "snapshot" && id == "":
		return x.readOnly(func() error { return x.sendJSON(http.StatusOK, x.server.Snapshot()) })
	case path == "faults":
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
		active := x.server.faults.List()
		if active == nil {
			active = []faults.Active{}
		}
		return x.sendJSON(http.StatusOK, faultsDocument{Active: active, Catalogue: faultKinds()})
	case x.r.Method == http.MethodPost && id == "":
		body, err := x.readBody()
		if err != nil {
			return err
		}
		made, err := x.server.faults.Add(strings.TrimSpace(string(body)))
		if invalid := (*faults.SyntaxError)(nil); errors.As(err, &invalid) {
			return apierrors.BadRequest(invalid.Error())
		}
		if err != nil {
			return err
		}
		return x.sendJSON(http.StatusCreated, map[string]string{"id": made})
	case x.r.Method == http.MethodDelete && id != "":
		if !x.server.faults.Remove(id) {
			return apierrors.NotFound("", "faults", id)
		}
		return x.sendJSON(http.StatusOK, map[string]string{"removed": id})
	}
	return methodNotAllowed()
}
