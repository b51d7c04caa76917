package apiserver

import (
	"net/http"
	"strings"
)

// route finds out what the path belongs to.
func (x *exchange) route() error {
	if x.info.IsResource {
		return x.serveResource()
	}
	path := x.r.URL.Path
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case path == "/" || path == "":
		return x.servePaths()
	case path == "/version" || path == "/version/":
		return x.readOnly(x.serveVersion)
	case first == "healthz" || first == "livez" || first == "readyz":
		return x.serveHealth()
	case first == "api" || first == "apis":
		return x.serveDiscovery()
	case first == "openapi":
		return x.serveOpenAPI()
	case strings.HasPrefix(path, debugPrefix):
		return x.serveDebug()
	}
	x.notFoundText()
	return nil
}

// isExempt tells whether faults leave the request alone: whoever has broken the server wants to look at it and repair it.
func (x *exchange) isExempt() bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(x.r.URL.Path, "/"), "/")
	return first == "healthz" || first == "livez" || first == "readyz" || strings.HasPrefix(x.r.URL.Path, debugPrefix)
}

// readOnly serves documents that can be read and nothing else.
func (x *exchange) readOnly(serve func() error) error {
	if x.r.Method != http.MethodGet {
		return methodNotAllowed()
	}
	return serve()
}
