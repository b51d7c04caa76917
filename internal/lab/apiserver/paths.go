package apiserver

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
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

// flag parses a boolean like kube-apiserver: absent, "false" and "0" are false, everything else is
// true.
func flag(query url.Values, name string) bool {
	values, given := query[name]
	if !given || len(values) == 0 {
		return false
	}
	return values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// number parses an integer; it returns nil if absent.
func number(query url.Values, name string) (*int64, error) {
	values, given := query[name]
	if !given || len(values) == 0 {
		return nil, nil
	}
	value, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil {
		return nil, resources.BadRequest(err.Error())
	}
	return &value, nil
}

// listOptions parses the query of a list, watch or deletecollection.
func listOptions(query url.Values) (api.ListOptions, error) {
	o := api.ListOptions{
		LabelSelector: query.Get("labelSelector"), FieldSelector: query.Get("fieldSelector"),
		ResourceVersion:      query.Get("resourceVersion"),
		ResourceVersionMatch: api.ResourceVersionMatch(query.Get("resourceVersionMatch")),
		Continue:             query.Get("continue"),
		AllowWatchBookmarks:  flag(query, "allowWatchBookmarks"),
		SendInitialEvents:    flag(query, "sendInitialEvents"),
	}
	for name, field := range map[string]*int64{"limit": &o.Limit, "timeoutSeconds": &o.TimeoutSeconds} {
		value, err := number(query, name)
		if err != nil {
			return api.ListOptions{}, err
		}
		if value != nil {
			*field = *value
		}
	}
	return o, nil
}

// fieldValidation says how to handle unknown fields.
type fieldValidation string

const (
	ignoreFields fieldValidation = "Ignore"
	warnOfFields fieldValidation = "Warn"
	strictFields fieldValidation = "Strict"
)

// writeParameters are the query parameters of create, update and patch.
type writeParameters struct {
	dryRun     bool
	validation fieldValidation
	manager    string
}

// maxManager limits the length of a field manager's name.
const maxManager = 128

// writeOptions parses the query of a write. kind names the options in errors, for example
// "CreateOptions".
func writeOptions(query url.Values, kind string) (writeParameters, error) {
	p := writeParameters{
		validation: fieldValidation(query.Get("fieldValidation")), manager: query.Get("fieldManager"),
	}
	var wrong resources.Errors
	p.dryRun = dryRun(query["dryRun"], &wrong)
	if len(p.manager) > maxManager {
		wrong.Add(resources.FieldTooLong, "fieldManager", p.manager, "may not be more than 128 bytes")
	}
	switch p.validation {
	case "":
		p.validation = warnOfFields
	case ignoreFields, warnOfFields, strictFields:
	default:
		wrong.Add(resources.FieldNotSupported, "fieldValidation", string(p.validation),
			`supported values: "", "Ignore", "Strict", "Warn"`)
	}
	if len(wrong) > 0 {
		return writeParameters{}, resources.Invalid("meta.k8s.io", kind, "", wrong)
	}
	return p, nil
}

// dryRun parses the dryRun parameters, whose only value is "All".
func dryRun(values []string, wrong *resources.Errors) bool {
	if slices.ContainsFunc(values, func(value string) bool { return value != "All" }) {
		wrong.Add(resources.FieldNotSupported, "dryRun", values, `supported values: "All"`)
	}
	return len(values) > 0
}
