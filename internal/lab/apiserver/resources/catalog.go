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

// Catalog is the set of resources that the server currently serves. It is safe for concurrent use.
type Catalog struct {
	builtin []*Definition // in discovery order; immutable

	mu sync.RWMutex
	// custom maps the name of each CustomResourceDefinition to its definitions, one per served
	// version, preferred first.
	custom map[string][]*Definition
	// remote are the versions that other servers serve, in order of arrival.
	remote []api.GroupVersion
	// Derived from the fields above. The slices are replaced, never changed.
	byResource  map[api.GroupVersionResource]*Definition
	served, all []*Definition
	groups      []Group
}

func NewCatalog() *Catalog {
	c := &Catalog{builtin: builtinDefinitions(), custom: map[string][]*Definition{}}
	c.indexLocked()
	return c
}

// Lookup returns the definition of a resource in a version, if it is served.
func (c *Catalog) Lookup(gvr api.GroupVersionResource) (*Definition, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.byResource[gvr]
	return d, ok
}

// IsBuiltin reports whether kube-apiserver itself serves a group.
func (c *Catalog) IsBuiltin(group string) bool {
	return slices.ContainsFunc(c.builtin, func(d *Definition) bool { return d.Group == group })
}

// All returns one definition per resource, in its preferred version and in discovery order. The
// slice is shared and must not be changed.
func (c *Catalog) All() []*Definition {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all
}

// Groups returns the groups in discovery order: the core group first. The slice is shared and must
// not be changed.
func (c *Catalog) Groups() []Group {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.groups
}

// GroupsWith returns the groups with other versions that are announced and do not answer, and with
// outdated ones, which answer although the aggregated document lists them as stale.
func (c *Catalog) GroupsWith(unavailable, outdated []api.GroupVersion) []Group {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return groupsOf(c.served, slices.Concat(c.remote, unavailable), outdated)
}

// PutRemote adds a version of a group whose APIService refers to another server. Discovery lists it
// as stale.
func (c *Catalog) PutRemote(gv api.GroupVersion) {
	c.change(func() {
		if !slices.Contains(c.remote, gv) {
			c.remote = append(c.remote, gv)
		}
	})
}

// RemoveRemote reverts PutRemote.
func (c *Catalog) RemoveRemote(gv api.GroupVersion) {
	c.change(func() {
		c.remote = slices.DeleteFunc(slices.Clone(c.remote), func(r api.GroupVersion) bool { return r == gv })
	})
}

// PutCustom adds or replaces the resource of a CustomResourceDefinition, which should have passed
// validation.
func (c *Catalog) PutCustom(crd *api.Unstructured) error {
	definitions, err := customDefinitions(crd)
	if err == nil {
		c.change(func() { c.custom[crd.GetName()] = definitions })
	}
	return err
}

// RemoveCustom removes the resource of a CustomResourceDefinition, if it is there.
func (c *Catalog) RemoveCustom(crdName string) { c.change(func() { delete(c.custom, crdName) }) }

// change changes the fields from which others are derived.
func (c *Catalog) change(apply func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	apply()
	c.indexLocked()
}

// indexLocked updates the derived fields.
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
	for _, d := range served {
		c.byResource[d.Resource()] = d
	}
	c.served, c.groups = served, groupsOf(served, c.remote, nil)
}

// groupsOf groups definitions. Built-in groups keep the order of the definitions; those of custom
// resources and other servers follow by name.
func groupsOf(definitions []*Definition, remote, outdated []api.GroupVersion) []Group {
	var groups []Group
	at := func(gv api.GroupVersion) *GroupVersion {
		g := slices.IndexFunc(groups, func(group Group) bool { return group.Name == gv.Group })
		if g < 0 {
			g, groups = len(groups), append(groups, Group{Name: gv.Group})
		}
		versions := &groups[g].Versions
		v := slices.IndexFunc(*versions, func(version GroupVersion) bool { return version.Version == gv.Version })
		if v < 0 {
			v, *versions = len(*versions), append(*versions, GroupVersion{Version: gv.Version})
		}
		return &(*versions)[v]
	}
	builtin := 0
	for _, d := range definitions { // the built-in ones come first
		gv := at(d.GroupVersion())
		gv.Definitions = append(gv.Definitions, d)
		if !d.Custom {
			builtin = len(groups)
		}
	}
	for _, gv := range remote {
		at(gv).Unavailable = true
	}
	slices.SortFunc(groups[builtin:], func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	for _, group := range groups {
		slices.SortFunc(group.Versions, func(a, b GroupVersion) int { return compareVersions(a.Version, b.Version) })
		for i := range group.Versions {
			v := &group.Versions[i]
			v.Outdated = slices.Contains(outdated, api.GroupVersion{Group: group.Name, Version: v.Version})
			slices.SortFunc(v.Definitions, func(a, b *Definition) int { return strings.Compare(a.Plural, b.Plural) })
		}
	}
	return groups
}

var kubernetesVersion = regexp.MustCompile(`^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$`)

// compareVersions orders the versions of a group by preference, as in the API conventions: stable
// before beta before alpha, newer before older, and everything else last, by name.
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
	n, _ := strconv.Atoi(digits) // 0 for none
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
