package guard

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/requestinfo"
)

// Decide returns why a request is refused, or "". ours reports whether this run created a
// namespace. It allows:
//   - every read with GET or HEAD;
//   - a watch over a websocket;
//   - a question about the user's own rights, which is a POST that stores nothing;
//   - writes to a namespace of this run, to its status and to finalize;
//   - writes to objects in such a namespace, and to their subresources status and scale.
//
// It refuses requests that the server might read in another way: paths that are not plain, and
// methods and versions that Kubernetes does not have.
func Decide(r *http.Request, ours func(namespace string) bool) (refusal string) {
	if escaped := r.URL.EscapedPath(); escaped != path.Clean(escaped) || strings.ContainsAny(escaped, `%\`) {
		return "the path is not plain"
	}
	for name := range r.Header {
		if strings.HasPrefix(strings.ToLower(name), "impersonate-") {
			return "requests in the name of another user are not allowed"
		}
	}
	info := requestinfo.Parse(r.Method, r.URL.Path)
	switch {
	case info.Resource == "proxy" || slices.ContainsFunc(append(info.Rest, info.Subresource), connects):
		return "it opens a connection to a pod, a node or a service"
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return refuseUpgrade(r, info)
	case asksForOwnRights(r.Method, info):
		return ""
	case !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, r.Method):
		return "Kubernetes has no such method"
	case r.Header.Get("Upgrade") != "":
		return "only a watch may use a websocket"
	case !info.IsResource || info.LegacyWatch || len(info.Rest) > 0:
		return "it is neither a read nor a write of an object"
	case info.Resource == "namespaces":
		return refuseNamespace(info, ours)
	case !info.Scoped:
		return fmt.Sprintf("%s are not in a namespace of this run", info.Resource)
	case !ours(info.Namespace):
		return notOurs(info.Namespace)
	case !slices.Contains([]string{"", "status", "scale"}, info.Subresource):
		return fmt.Sprintf("the subresource %s may reach beyond the namespace", info.Subresource)
	}
	return ""
}

func notOurs(namespace string) string {
	return fmt.Sprintf("this run did not create the namespace %s", namespace)
}

// connects reports whether a subresource opens a connection, which a GET does as well.
func connects(subresource string) bool {
	return slices.Contains([]string{"exec", "attach", "portforward", "proxy"}, subresource)
}

// refuseUpgrade refuses a read that asks for another protocol, unless it is a watch.
func refuseUpgrade(r *http.Request, info requestinfo.Info) string {
	if r.Header.Get("Upgrade") == "" {
		return ""
	}
	asks := slices.Contains([]string{"1", "true"}, r.URL.Query().Get("watch"))
	watches := info.Verb == "watch" || info.Verb == "list" && info.IsResource && asks
	if !watches || info.Subresource != "" || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return "only a watch may use a websocket"
	}
	return ""
}

// asksForOwnRights reports whether the request is a review of the user's own name or rights.
func asksForOwnRights(method string, info requestinfo.Info) bool {
	if method != http.MethodPost || info.Scoped || info.Name != "" || info.LegacyWatch || info.Version != "v1" {
		return false
	}
	switch info.Group {
	case "authorization.k8s.io":
		return info.Resource == "selfsubjectaccessreviews" || info.Resource == "selfsubjectrulesreviews"
	case "authentication.k8s.io":
		return info.Resource == "selfsubjectreviews"
	}
	return false
}

// refuseNamespace decides about writes to namespaces themselves. A resource of this name in another
// group, or inside a namespace, is a different resource.
func refuseNamespace(info requestinfo.Info, ours func(string) bool) string {
	switch {
	case info.Group != "" || info.Version != "v1" || info.Scoped:
		return "these are not the namespaces of Kubernetes"
	case info.Name == "":
		return fmt.Sprintf("%s applies to namespaces that this run did not create", info.Verb)
	case !ours(info.Name):
		return notOurs(info.Name)
	}
	return ""
}
