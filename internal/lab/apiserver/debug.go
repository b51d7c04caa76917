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

// faultsDocument is the answer of /debug/orrery/faults.
type faultsDocument struct {
	Active    []faults.Active `json:"active"`
	Catalogue []faultKind     `json:"catalogue"`
}

// faultKind is a fault that could be on.
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

// serveDebug answers what only administrators may ask: what goes on in the server, and which faults are on. Faults leave these requests
// alone, or nobody could take them back.
func (x *exchange) serveDebug() error {
	if !slices.Contains(x.user.Groups, authn.GroupMasters) {
		return apierrors.Forbidden("", "", "", "User \""+x.user.Name+"\" is not an administrator: "+x.info.Path+" is for the group "+authn.GroupMasters)
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

// serveFaults lists faults (GET), switches one on (POST, the body is its text) or off (DELETE faults/{id}).
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
		if mistake := (*faults.SyntaxError)(nil); errors.As(err, &mistake) {
			return apierrors.BadRequest(mistake.Error())
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
