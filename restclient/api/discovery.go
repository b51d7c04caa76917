package api

// APIGroupList is the legacy answer of /apis.
type APIGroupList struct {
	TypeMeta `json:",inline"`
	Groups   []APIGroup `json:"groups"`
}

// APIGroup is a group with its versions, in the server's order of preference.
type APIGroup struct {
	TypeMeta         `json:",inline"`
	Name             string                     `json:"name"`
	Versions         []GroupVersionForDiscovery `json:"versions"`
	PreferredVersion GroupVersionForDiscovery   `json:"preferredVersion,omitzero"`
}

// GroupVersionForDiscovery is a version, spelt both ways.
type GroupVersionForDiscovery struct {
	GroupVersion string `json:"groupVersion"`
	Version      string `json:"version"`
}

// APIResourceList is the legacy answer of /api/v1 and /apis/{group}/{version}.
type APIResourceList struct {
	TypeMeta     `json:",inline"`
	GroupVersion string        `json:"groupVersion"`
	Resources    []APIResource `json:"resources"`
}

// APIResource is a collection that a group version serves. Subresources have a slash in their name.
type APIResource struct {
	Name         string   `json:"name"`
	SingularName string   `json:"singularName"`
	Namespaced   bool     `json:"namespaced"`
	Group        string   `json:"group,omitempty"`
	Version      string   `json:"version,omitempty"`
	Kind         string   `json:"kind"`
	Verbs        []string `json:"verbs"`
	ShortNames   []string `json:"shortNames,omitempty"`
	Categories   []string `json:"categories,omitempty"`
}

// APIGroupDiscoveryList is the aggregated answer of /api and /apis (apidiscovery.k8s.io/v2):
// everything in one document.
type APIGroupDiscoveryList struct {
	TypeMeta `json:",inline"`
	ListMeta `json:"metadata"`
	Items    []APIGroupDiscovery `json:"items"`
}

// APIGroupDiscovery is a group in an aggregated answer; metadata.name is the group's name.
type APIGroupDiscovery struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Versions   []APIVersionDiscovery `json:"versions,omitempty"`
}

// APIVersionDiscovery is a version of a group in an aggregated answer.
type APIVersionDiscovery struct {
	Version   string                 `json:"version"`
	Resources []APIResourceDiscovery `json:"resources,omitempty"`
	// Freshness is "Current", or "Stale" when the server behind the group did not answer.
	Freshness string `json:"freshness,omitempty"`
}

// APIResourceDiscovery is a resource in an aggregated answer.
type APIResourceDiscovery struct {
	Resource         string                    `json:"resource"`
	ResponseKind     *DiscoveryKind            `json:"responseKind,omitempty"`
	Scope            string                    `json:"scope"`
	SingularResource string                    `json:"singularResource"`
	Verbs            []string                  `json:"verbs"`
	ShortNames       []string                  `json:"shortNames,omitempty"`
	Categories       []string                  `json:"categories,omitempty"`
	Subresources     []APISubresourceDiscovery `json:"subresources,omitempty"`
}

// APISubresourceDiscovery is a subresource in an aggregated answer.
type APISubresourceDiscovery struct {
	Subresource  string         `json:"subresource"`
	ResponseKind *DiscoveryKind `json:"responseKind,omitempty"`
	Verbs        []string       `json:"verbs"`
}

// DiscoveryKind is a group, version and kind as the aggregated answer spells it.
type DiscoveryKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// The scopes and the freshness values of aggregated discovery.
const (
	ScopeCluster     = "Cluster"
	ScopeNamespaced  = "Namespaced"
	FreshnessCurrent = "Current"
	FreshnessStale   = "Stale"
)

// VersionInfo is the part of the answer of /version that this project uses.
type VersionInfo struct {
	GitVersion string `json:"gitVersion"`
}
