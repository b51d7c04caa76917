package discovery

import (
	"slices"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// group, version and resource are what both forms of documents are built from.
type group struct {
	name     string
	versions []version
}

type version struct {
	name      string
	resources []resource
	stale     bool // its server does not answer
	outdated  bool // listed as stale although its server answers
}

type resource struct {
	plural, singular, kind string
	namespaced             bool
	storageHash            string
	verbs                  []string
	shortNames, categories []string
	subresources           []resources.Subresource
}

// collect combines the groups of the catalog, the reviews and the unavailable groups.
func collect(catalogue []resources.Group, troubled Troubled) []group {
	var all []group
	for _, g := range catalogue {
		if g.Name == reviewsBefore {
			all = append(all, reviews...)
		}
		all = append(all, fromCatalogue(g))
	}
	if !slices.ContainsFunc(all, func(g group) bool { return g.name == reviews[0].name }) {
		all = append(all, reviews...)
	}
	for _, gv := range troubled.Unavailable {
		all = withStale(all, gv)
	}
	for _, gv := range troubled.Outdated {
		outdate(all, gv)
	}
	return all
}

// outdate marks a group version that answers as stale.
func outdate(all []group, gv api.GroupVersion) {
	for i, g := range all {
		at := slices.IndexFunc(g.versions, func(v version) bool { return g.name == gv.Group && v.name == gv.Version })
		if at >= 0 {
			all[i].versions = slices.Clone(g.versions) // those of the reviews are shared
			all[i].versions[at].outdated = true
		}
	}
}

func fromCatalogue(g resources.Group) group {
	out := group{name: g.Name}
	for _, v := range g.Versions {
		made := version{name: v.Version, stale: v.Unavailable}
		for _, d := range v.Definitions {
			made.resources = append(made.resources, resource{
				plural: d.Plural, singular: d.Singular, kind: d.Kind, namespaced: d.Namespaced,
				storageHash: storageHash(d), verbs: verbs(d), shortNames: d.ShortNames, categories: d.Categories, subresources: d.Subresources(),
			})
		}
		out.versions = append(out.versions, made)
	}
	return out
}

// verbs returns the verbs in kube-apiserver's order, which differs for custom resources.
func verbs(d *resources.Definition) []string {
	if d.Custom && d.Verbs == nil {
		return []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	}
	return d.VerbList()
}

// withStale marks or adds a group version that does not answer.
func withStale(all []group, gv api.GroupVersion) []group {
	at := slices.IndexFunc(all, func(g group) bool { return g.name == gv.Group })
	if at < 0 {
		return append(all, group{name: gv.Group, versions: []version{{name: gv.Version, stale: true}}})
	}
	versions := slices.Clone(all[at].versions)
	stale := version{name: gv.Version, stale: true}
	if i := slices.IndexFunc(versions, func(v version) bool { return v.name == gv.Version }); i >= 0 {
		versions[i] = stale
	} else {
		versions = append(versions, stale)
	}
	all[at].versions = versions
	return all
}
