package apiserver

import (
	"cmp"
	"net/http"
	"strings"

	"orrery/internal/lab/apiserver/faults"
)

// pathInfo is what the method and path of a request say. Which resources and verbs exist is not
// known here:
//
//	/api/{version}/{resource}[/{name}[/{subresource}]]
//	/api/{version}/namespaces/{namespace}/{resource}[/{name}[/{subresource}]]
//	/apis/{group}/{version}/...           the same for other groups
//	/api/{version}/watch/...              the old form of ?watch=1
type pathInfo struct {
	// Request has the verb, the path as received and, if the path belongs to a resource, its parts.
	// The namespace of a Namespace object is its name, as in RBAC. The user is not known at first.
	faults.Request

	// IsResource reports whether the path belongs to a resource.
	IsResource bool
	// Scoped reports whether the path has namespaces/{namespace}/ before the resource.
	Scoped bool
	// Rest are the parts after the subresource. No path of this server has any.
	Rest []string
	// LegacyWatch reports the old prefix watch/.
	LegacyWatch bool
}

// parsePath parses the method and the unescaped path of a request.
func parsePath(method, path string) pathInfo {
	info := pathInfo{Request: faults.Request{Path: path, Verb: strings.ToLower(method)}}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return info
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		info.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		info.Group, info.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return info
	}
	if parts[0] == "watch" && len(parts) > 1 {
		info.LegacyWatch, parts = true, parts[1:]
	}
	info.IsResource = true
	info.readResource(parts)
	info.Verb = info.verbOf(method)
	return info
}

// readResource parses what follows the group and version.
func (info *pathInfo) readResource(parts []string) {
	if parts[0] == "namespaces" && len(parts) > 1 {
		info.Namespace = parts[1]
		if len(parts) > 2 && !namespaceSubresources[parts[2]] {
			info.Scoped = true
			parts = parts[2:]
		}
	}
	info.Resource = parts[0]
	if len(parts) > 1 {
		info.Name = parts[1]
	}
	if len(parts) > 2 {
		info.Subresource = parts[2]
	}
	if len(parts) > 3 {
		info.Rest = parts[3:]
	}
}

// namespaceSubresources are the parts after namespaces/{name}/ that are subresources of the
// namespace.
var namespaceSubresources = map[string]bool{"status": true, "finalize": true}

// verbs are the verbs of a method, for a collection and for one object.
var verbs = map[string][2]string{
	http.MethodGet:    {"list", "get"},
	http.MethodHead:   {"list", "get"},
	http.MethodPost:   {"create", "create"},
	http.MethodPut:    {"update", "update"},
	http.MethodPatch:  {"patch", "patch"},
	http.MethodDelete: {"deletecollection", "delete"},
}

func (info *pathInfo) verbOf(method string) string {
	verb := verbs[method]
	switch {
	case info.LegacyWatch && verb[0] == "list":
		return "watch"
	case info.Name != "":
		return cmp.Or(verb[1], info.Verb)
	}
	return cmp.Or(verb[0], info.Verb)
}
