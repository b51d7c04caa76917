package requestinfo

import (
	"net/http"
	"strings"
)

// Info is what a request is about.
type Info struct {
	// Path is the path as it came.
	Path string
	// Verb is get, list, watch, create, update, patch, delete or deletecollection for resources, and the method in small
	// letters for everything else.
	Verb string

	// IsResource tells whether the path is that of a resource. The fields below are empty if it is not.
	IsResource bool
	// Group is "" for the core group.
	Group, Version string
	// Namespace is that in the path; for a namespace itself it is the namespace's name, as RBAC has it.
	Namespace string
	// Scoped tells whether the resource stands behind namespaces/{namespace}/ in the path.
	Scoped                      bool
	Resource, Name, Subresource string
	// Rest is what comes after the subresource. Nothing of this server has anything there.
	Rest []string
	// LegacyWatch tells that the path has the old prefix watch/.
	LegacyWatch bool
}

// Parse reads a request. The path is without escapes.
func Parse(method, path string) Info {
	info := Info{Path: path, Verb: strings.ToLower(method)}
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

// readResource reads what follows group and version.
func (info *Info) readResource(parts []string) {
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

// namespaceSubresources are the words behind namespaces/{name}/ that belong to the namespace itself.
var namespaceSubresources = map[string]bool{"status": true, "finalize": true}

func (info *Info) verbOf(method string) string {
	one := info.Name != ""
	switch {
	case info.LegacyWatch && (method == http.MethodGet || method == http.MethodHead):
		return "watch"
	case method == http.MethodPost:
		return "create"
	case (method == http.MethodGet || method == http.MethodHead) && one:
		return "get"
	case method == http.MethodGet || method == http.MethodHead:
		return "list"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodPatch:
		return "patch"
	case method == http.MethodDelete && one:
		return "delete"
	case method == http.MethodDelete:
		return "deletecollection"
	}
	return strings.ToLower(method)
}
