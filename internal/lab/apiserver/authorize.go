package apiserver

import (
	"strings"

	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/faults"
	"orrery/restclient/api"
)

// authorize tells whether a user may do something. Everybody whom the server knows may do everything, unless a fault forbids it.
// Strangers, if they are let in at all, may see that the server is well and which version it is, as on a cluster with the usual
// roles.
func (s *Server) authorize(user User, asked faults.Request) *api.StatusError {
	if user.Name == authn.Anonymous && !isPublic(asked) {
		return faults.Forbidden(asked)
	}
	return s.faults.Authorize(asked)
}

func isPublic(asked faults.Request) bool {
	if asked.Resource != "" || asked.Verb != "get" {
		return false
	}
	switch strings.TrimSuffix(asked.Path, "/") {
	case "/healthz", "/livez", "/readyz", "/version":
		return true
	}
	return false
}
