package resources

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orrery/restclient/api"
)

// Catalog is the set of resources that a server has at the moment. Make one with [NewCatalog].
type Catalog struct {
	builtin []*Definition // in the order of discovery; immutable

	mu sync.RWMutex
	// custom holds the definitions of each CustomResourceDefinition by its name, one for each served version, in the
	// order of preference.
	custom map[string][]*Definition
	// unavailable are the versions that other servers are said to serve, in the order in which they came.
	unavailable []api.GroupVersion
	// byResource and byKind are derived from the above. The lists are replaced, never changed.
	byResource map[api.GroupVersionResource]*Definition
	byKind     map[api.GroupVersionKind]*Definition
	all        []*Definition
	groups     []Group
}

// NewCatalog returns a catalog of the built-in types.
func NewCatalog() *Catalog {
	c := &Catalog{builtin: builtinDefinitions(), custom: map[string][]*Definition{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.indexLocked()
	return c
}

// Lookup returns the definition of a resource at a version, if the server has it.
func (c *Catalog) Lookup(gvr api.GroupVersionResource) (*Definition, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.byResource[gvr]
	return d, ok
}

// ByKind returns the definition of the resource whose objects are of the kind.
func (c *Catalog) ByKind(gvk api.GroupVersionKind) (*Definition, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.byKind[gvk]
	return d, ok
}

// All returns one definition for each resource, at its preferred version, in the order of discovery. The slice is
// shared: read only.
func (c *Catalog) All() []*Definition {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all
}

// Groups returns everything that discovery lists, in kube-apiserver's order: the core group first. The slice is
// shared: read only.
func (c *Catalog) Groups() []Group {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.groups
}

// Unavailable tells whether a version of a group was declared by [Catalog.PutUnavailable].
func (c *Catalog) Unavailable(gv api.GroupVersion) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Contains(c.unavailable, gv)
}

// PutUnavailable declares that another server serves a version of a group and does not answer: what an APIService
// whose service is gone leaves behind. The version is in discovery, as stale, and requests to it should be answered
// 503.
func (c *Catalog) PutUnavailable(group, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gv := api.GroupVersion{Group: group, Version: version}
	if slices.Contains(c.unavailable, gv) {
		return
	}
	c.unavailable = append(slices.Clone(c.unavailable), gv)
	c.indexLocked()
}

// RemoveUnavailable takes back what PutUnavailable declared.
func (c *Catalog) RemoveUnavailable(group, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gv := api.GroupVersion{Group: group, Version: version}
	c.unavailable = slices.DeleteFunc(slices.Clone(c.unavailable), func(other api.GroupVersion) bool { return other == gv })
	c.indexLocked()
}

// PutCustom adds the resource of a CustomResourceDefinition, or replaces it. The definition should have passed
// validation; one that cannot be served is an error.
func (c *Catalog) PutCustom(crd *api.Unstructured) error {
	definitions, err := customDefinitions(crd)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.custom[crd.GetName()] = definitions
	c.indexLocked()
	return nil
}

// RemoveCustom removes the resource of a CustomResourceDefinition. Nothing happens if there is none of the name.
func (c *Catalog) RemoveCustom(crdName string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.custom, crdName)
	c.indexLocked()
}

// indexLocked derives the lists and indexes.
func (c *Catalog) indexLocked() {
	served := slices.Clone(c.builtin)
	c.all = slices.DeleteFunc(slices.Clone(c.builtin), func(d *Definition) bool { return d.Version != d.Versions[0] })
	for _, name := range sortedKeys(c.custom) {
		served = append(served, c.custom[name]...)
		if len(c.custom[name]) > 0 {
			c.all = append(c.all, c.custom[name][0])
		}
	}
	c.byResource = make(map[api.GroupVersionResource]*Definition, len(served))
	c.byKind = make(map[api.GroupVersionKind]*Definition, len(served))
	for _, d := range served {
		c.byResource[d.Resource()] = d
		c.byKind[api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind}] = d
	}
	c.groups = groupsOf(served, c.unavailable)
}

// groupsOf sorts definitions into groups. Built-in groups have the order of the definitions; those of custom resources
// and of other servers follow by name.
func groupsOf(definitions []*Definition, unavailable []api.GroupVersion) []Group {
	versions := map[string]map[string]*GroupVersion{}
	var order, guests []string
	add := func(group, version string, guest bool) *GroupVersion {
		if versions[group] == nil {
			versions[group] = map[string]*GroupVersion{}
			if guest {
				guests = append(guests, group)
			} else {
				order = append(order, group)
			}
		}
		if versions[group][version] == nil {
			versions[group][version] = &GroupVersion{Version: version}
		}
		return versions[group][version]
	}
	for _, d := range definitions {
		gv := add(d.Group, d.Version, d.Custom)
		gv.Definitions = append(gv.Definitions, d)
	}
	for _, gv := range unavailable {
		add(gv.Group, gv.Version, true).Unavailable = true
	}
	slices.Sort(guests)
	var groups []Group
	for _, name := range append(order, guests...) {
		group := Group{Name: name}
		names := sortedKeys(versions[name])
		slices.SortStableFunc(names, compareVersions)
		for _, version := range names {
			gv := *versions[name][version]
			slices.SortFunc(gv.Definitions, func(a, b *Definition) int { return strings.Compare(a.Plural, b.Plural) })
			group.Versions = append(group.Versions, gv)
		}
		groups = append(groups, group)
	}
	return groups
}

var kubernetesVersion = regexp.MustCompile(`^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$`)

// compareVersions orders the versions of a group by preference, as the API conventions say: stable before beta before
// alpha, newer before older, and anything that does not look like a version last, by name.
func compareVersions(a, b string) int {
	left, right := kubernetesVersion.FindStringSubmatch(a), kubernetesVersion.FindStringSubmatch(b)
	switch {
	case left == nil && right == nil:
		return cmp.Compare(a, b)
	case left == nil:
		return 1
	case right == nil:
		return -1
	}
	stages := []string{"", "beta", "alpha"}
	return cmp.Or(
		cmp.Compare(slices.Index(stages, left[2]), slices.Index(stages, right[2])),
		cmp.Compare(number(right[1]), number(left[1])),
		cmp.Compare(number(right[3]), number(left[3])),
	)
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
