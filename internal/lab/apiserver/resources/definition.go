package resources

import (
	"fmt"
	"slices"

	"orrery/internal/lab/apiserver/schema"
	"orrery/internal/lab/apiserver/selector"
	"orrery/restclient/api"
)

// Definition describes a resource. It is immutable after a [Catalog] has it.
type Definition struct {
	// Group is the API group, "" for the core group.
	Group string
	// Versions are the served versions, the preferred one first. They share one storage.
	Versions []string
	// Version is the one of Versions that this definition describes: the versions of a custom resource may differ in
	// subresources, columns and selectable fields, and [Catalog.Lookup] returns the definition of the version that was
	// asked for. For built-in types it is the only one.
	Version string

	Plural, Singular, Kind, ListKind string
	ShortNames, Categories           []string

	// Namespaced tells whether objects live in namespaces.
	Namespaced bool
	// Custom marks resources that come from a CustomResourceDefinition.
	Custom bool
	// Prefix is where the objects are in the store: "/registry/configmaps". Resources that are the same objects in two
	// groups (events) have the same prefix.
	Prefix string
	// Verbs are the verbs of the resource itself, sorted; nil means all eight.
	Verbs []string

	// Status, Finalize and Scale tell which subresources there are.
	Status, Finalize, Scale bool

	// Columns are those of the table; nil means name and age.
	Columns []Column
	// Selectable are the field selectors beyond metadata.name and metadata.namespace.
	Selectable []string
	// Fields returns the values of Selectable, for [store.Draft]; nil if there are none.
	Fields func(o *api.Unstructured) map[string]string

	// Stored is the group and version in which objects are stored, if it is another one: events.k8s.io and autoscaling/v1.
	Stored *api.GroupVersion
	// ToStorage and FromStorage translate between this group's form of an object and the stored one, in place. Both
	// are nil where the forms are the same. Stored is set where they are not.
	ToStorage, FromStorage func(o *api.Unstructured)

	// Type describes the documents, for fields that they do not have and values that do not fit.
	Type *schema.Type
	// Schema is the openAPIV3Schema of a custom resource, for the OpenAPI documents; nil if there is none. Read only.
	Schema map[string]any

	// Strategy is what happens on writes.
	Strategy Strategy

	// renamed gives some of Selectable the name that they have in Fields.
	renamed map[string]string
	// parts are the subresources of a built-in type.
	parts []Subresource
	// scale finds the fields that the scale subresource is made of.
	scale *scalePaths
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// VerbList returns the verbs of the resource, sorted, as discovery lists them.
func (d *Definition) VerbList() []string {
	if d.Verbs == nil {
		return slices.Clone(allVerbs)
	}
	return slices.Clone(d.Verbs)
}

// HasVerb tells whether the resource has the verb.
func (d *Definition) HasVerb(verb string) bool {
	return d.Verbs == nil && slices.Contains(allVerbs, verb) || slices.Contains(d.Verbs, verb)
}

// Subresource is a part of an object, or a view on it, with an address of its own.
type Subresource struct {
	// Name is the last element of the address: "status".
	Name string
	// Kind is what it answers with. Group and version are empty if they are those of the resource.
	Kind api.GroupVersionKind
	// Verbs are sorted.
	Verbs []string
}

// Subresources returns the subresources in the order in which discovery lists them: sorted by name, but status first for
// custom resources.
func (d *Definition) Subresources() []Subresource {
	if !d.Custom {
		return d.parts
	}
	var found []Subresource
	readAndWrite := []string{"get", "patch", "update"}
	if d.Status {
		found = append(found, Subresource{Name: "status", Kind: api.GroupVersionKind{Kind: d.Kind}, Verbs: readAndWrite})
	}
	if d.Scale {
		found = append(found, Subresource{Name: "scale", Kind: api.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: readAndWrite})
	}
	return found
}

// Resource returns the name of the resource at its version.
func (d *Definition) Resource() api.GroupVersionResource {
	return api.GroupVersionResource{Group: d.Group, Version: d.Version, Resource: d.Plural}
}

// GroupKind returns "kind.group", or the kind alone for the core group, as error messages name a type.
func (d *Definition) GroupKind() string {
	if d.Group == "" {
		return d.Kind
	}
	return d.Kind + "." + d.Group
}

// InvalidGroup is the group under which messages about mistakes in an object name the type: that of the stored form.
func (d *Definition) InvalidGroup() string {
	return d.storedKind().Group
}

// storedKind is the kind in whose form objects are stored.
func (d *Definition) storedKind() api.GroupVersionKind {
	if d.Stored != nil {
		return api.GroupVersionKind{Group: d.Stored.Group, Version: d.Stored.Version, Kind: d.Kind}
	}
	return api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind}
}

// Qualified returns "plural.group", or the plural alone for the core group: the name of a CustomResourceDefinition,
// and how error messages name a resource.
func (d *Definition) Qualified() string {
	if d.Group == "" {
		return d.Plural
	}
	return d.Plural + "." + d.Group
}

// FieldsOf returns what field selectors see of an object beyond its name and namespace; nil for most types.
func (d *Definition) FieldsOf(o *api.Unstructured) map[string]string {
	if d.Fields == nil {
		return nil
	}
	return d.Fields(o)
}

// Group is an API group with everything that is served in it, for discovery.
type Group struct {
	// Name is "" for the core group.
	Name string
	// Versions, the preferred one first.
	Versions []GroupVersion
}

// GroupVersion is a version of a group.
type GroupVersion struct {
	Version string
	// Definitions are sorted by plural name.
	Definitions []*Definition
	// Unavailable marks a version that another server is said to serve which does not answer: discovery lists it as
	// stale and requests to it are answered 503.
	Unavailable bool
}

// Column is a column of a table.
type Column struct {
	// Name is the heading; kubectl shows it in upper case.
	Name string
	// Type is the OpenAPI type of the cells: "string", "integer", "number", "boolean" or "date".
	Type string
	// Format is the OpenAPI format: "name" for the column that holds the name of the object, else mostly "".
	Format string
	// Description says what the column shows.
	Description string
	// Priority 0 is always shown, others only by `-o wide`.
	Priority int32
	// Cell makes the cell of an object.
	Cell cell
}

// FieldSelector returns the selector in terms of the names that [Definition.Fields], "metadata.name" and
// "metadata.namespace" go by, or an error whose text is kube-apiserver's if the type does not let clients select by one
// of the fields.
func (d *Definition) FieldSelector(s selector.Fields) (selector.Fields, error) {
	return s.Rename(func(field string) (string, error) {
		switch {
		case field == "metadata.name", field == "metadata.namespace" && (d.Namespaced || !d.Custom && len(d.Selectable) == 0):
			return field, nil
		case slices.Contains(d.Selectable, field):
			if stored, ok := d.renamed[field]; ok {
				return stored, nil
			}
			return field, nil
		}
		return "", d.unknownField(field)
	})
}

func (d *Definition) unknownField(field string) error {
	if d.Custom || len(d.Selectable) > 0 {
		return fmt.Errorf("field label not supported: %s", field)
	}
	return fmt.Errorf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, field)
}
