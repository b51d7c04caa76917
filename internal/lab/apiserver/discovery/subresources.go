package discovery

import (
	"cmp"
	"slices"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// actions are the subresources that do something instead of showing a part of the object. The catalogue does not have them, because
// they are answered outside of it.
var actions = map[api.GroupVersionResource][]resources.Subresource{
	api.PodsResource: {
		{Name: "binding", Kind: api.GroupVersionKind{Kind: "Binding"}, Verbs: []string{"create"}},
		{Name: "eviction", Kind: api.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}, Verbs: []string{"create"}},
		{Name: "log", Kind: api.GroupVersionKind{Kind: "Pod"}, Verbs: []string{"get"}},
	},
	{Version: "v1", Resource: "serviceaccounts"}: {
		{Name: "token", Kind: api.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}, Verbs: []string{"create"}},
	},
}

// Subresources returns everything that a resource has below its objects, sorted by name; of a custom resource the status first, as
// the original lists them.
func Subresources(d *resources.Definition) []resources.Subresource {
	all := d.Subresources()
	for _, action := range actions[d.Resource()] {
		if !slices.ContainsFunc(all, func(s resources.Subresource) bool { return s.Name == action.Name }) {
			all = append(all, action)
		}
	}
	slices.SortFunc(all, func(a, b resources.Subresource) int { return cmp.Compare(a.Name, b.Name) })
	if d.Custom {
		slices.Reverse(all) // there is nothing but scale and status
	}
	return all
}
