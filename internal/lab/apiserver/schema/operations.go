package schema

import (
	"slices"
	"strings"

	"orrery/restclient/api"
)

// operation is an operation on a path.
type operation struct {
	method, action string
	gvk            api.GroupVersionKind
	id             string
	parameters     []parameter
	body           string // the definition of the request body, "" for none
	consumes       []string
	answer         string // the definition of the response
}

// parameter is a query or path parameter.
type parameter struct{ name, in, kind string }

// endpoint is a path with its operations.
type endpoint struct {
	path       string
	parameters []parameter
	operations []operation
}

var (
	pretty    = parameter{"pretty", "query", "string"}
	name      = parameter{"name", "path", "string"}
	namespace = parameter{"namespace", "path", "string"}

	listParameters = []parameter{{"allowWatchBookmarks", "query", "boolean"}, {"continue", "query", "string"}, {"fieldSelector", "query", "string"},
		{"labelSelector", "query", "string"}, {"limit", "query", "integer"}, {"resourceVersion", "query", "string"},
		{"resourceVersionMatch", "query", "string"}, {"sendInitialEvents", "query", "boolean"}, {"timeoutSeconds", "query", "integer"},
		{"watch", "query", "boolean"}}
	// kubectl checks for dryRun and fieldValidation here before it uses them.
	writeParameters  = []parameter{{"dryRun", "query", "string"}, {"fieldManager", "query", "string"}, {"fieldValidation", "query", "string"}}
	patchParameters  = append(slices.Clone(writeParameters), parameter{"force", "query", "boolean"})
	deleteParameters = []parameter{{"dryRun", "query", "string"}, {"gracePeriodSeconds", "query", "integer"}, {"orphanDependents", "query", "boolean"},
		{"propagationPolicy", "query", "string"}}
)

// endpoints returns the paths of a resource.
func (r *Resource) endpoints(s *Set) []endpoint {
	gv := api.GroupVersion{Group: r.GVK.Group, Version: r.GVK.Version}
	base := "/apis/" + gv.String()
	if gv.Group == "" {
		base = "/api/" + gv.Version
	}
	object, list := r.definitionName(s), r.listName(s)
	scope, in := "", []parameter{pretty}
	collection := base + "/" + r.Plural
	if r.Namespaced {
		scope, in = "Namespaced", []parameter{namespace, pretty}
		collection = base + "/namespaces/{namespace}/" + r.Plural
	}
	var all []endpoint
	if r.Namespaced && r.has("list") {
		all = append(all, endpoint{base + "/" + r.Plural, append([]parameter{pretty}, listParameters...), []operation{
			r.operation("get", "list", "list", "ForAllNamespaces", operation{answer: list})}})
	}
	all = append(all,
		endpoint{collection, in, r.only(
			r.operation("get", "list", "list"+scope, "", operation{answer: list, parameters: listParameters}),
			r.operation("post", "post", "create"+scope, "", operation{answer: object, body: object, parameters: writeParameters}),
			r.operation("delete", "deletecollection", "deleteCollection"+scope, "", operation{answer: statusName, body: deleteOptionsName,
				parameters: append(slices.Clone(deleteParameters), listParameters...)}))},
		endpoint{collection + "/{name}", append([]parameter{name}, in...), r.only(
			r.operation("get", "get", "read"+scope, "", operation{answer: object}),
			r.operation("put", "put", "replace"+scope, "", operation{answer: object, body: object, parameters: writeParameters}),
			r.operation("patch", "patch", "patch"+scope, "", operation{answer: object, body: patchName, parameters: patchParameters, consumes: r.patches()}),
			r.operation("delete", "delete", "delete"+scope, "", operation{answer: statusName, body: deleteOptionsName, parameters: deleteParameters}))})
	for _, sub := range r.Subresources {
		all = append(all, r.subresource(s, sub, collection, scope, append([]parameter{name}, in...)))
	}
	return all
}

// subkinds are the kinds of subresources that have a kind of their own. They accept POST, except
// scale, which is read and written like the object.
var subkinds = map[string]api.GroupVersionKind{
	"eviction": {Group: "policy", Version: "v1", Kind: "Eviction"},
	"token":    {Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
	"binding":  {Version: "v1", Kind: "Binding"},
	"scale":    {Group: "autoscaling", Version: "v1", Kind: "Scale"},
}

func (r *Resource) subresource(s *Set, sub, collection, scope string, in []parameter) endpoint {
	object, gvk := r.definitionName(s), r.GVK
	own, ok := subkinds[sub]
	if ok {
		object, gvk = s.kinds[own], own
	}
	suffix := strings.ToUpper(sub[:1]) + sub[1:]
	of := func(method, action, verb string, o operation) operation {
		o = r.operation(method, action, verb+scope, suffix, o)
		o.gvk = gvk
		return o
	}
	e := endpoint{path: collection + "/{name}/" + sub, parameters: in}
	put := of("put", "put", "replace", operation{answer: object, body: object, parameters: writeParameters})
	switch {
	case ok && sub != "scale":
		e.operations = []operation{of("post", "post", "create", operation{answer: object, body: object, parameters: writeParameters})}
	case sub == "finalize":
		e.operations = []operation{put}
	default:
		e.operations = []operation{of("get", "get", "read", operation{answer: object}), put,
			of("patch", "patch", "patch", operation{answer: object, body: patchName, parameters: patchParameters, consumes: r.patches()})}
	}
	return e
}

func (r *Resource) operation(method, action, verb, suffix string, o operation) operation {
	o.method, o.action, o.gvk = method, action, r.GVK
	o.id = verb + identifier(r.GVK) + r.GVK.Kind + suffix
	if o.body != "" && o.consumes == nil {
		o.consumes = []string{"*/*"}
	}
	return o
}

// identifier returns a group and version as part of an operation ID: apps/v1 becomes AppsV1.
func identifier(gvk api.GroupVersionKind) string {
	group := gvk.Group
	if group == "" {
		group = "core"
	}
	var out strings.Builder
	for _, word := range append(strings.FieldsFunc(group, func(c rune) bool { return c == '.' || c == '-' }), gvk.Version) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

func (r *Resource) patches() []string {
	types := []string{string(api.JSONPatchType), string(api.MergePatchType)}
	if r.Schema == nil && !r.Custom {
		types = append(types, string(api.StrategicMergePatchType))
	}
	return types
}

// actionVerbs are the verbs of the actions that are named differently.
var actionVerbs = map[string]string{"post": "create", "put": "update"}

func (r *Resource) has(action string) bool {
	verb := action
	if v, ok := actionVerbs[action]; ok {
		verb = v
	}
	return r.Verbs == nil || slices.Contains(r.Verbs, verb)
}

// only keeps the operations whose verb the resource has.
func (r *Resource) only(operations ...operation) []operation {
	return slices.DeleteFunc(operations, func(o operation) bool { return !r.has(o.action) })
}
