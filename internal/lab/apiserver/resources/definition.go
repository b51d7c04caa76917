// Package resources is the catalogue of the types that the server serves; package registry
// implements the verbs for all of them. A [Definition] has the names and subresources of a
// resource, its [Strategy] (the hooks that set defaults, prepare and validate an object on its way
// to the store) and the [Column]s of kubectl get. A [Catalog] holds the definitions of built-in
// types, most of which are recorded in builtin.jsonl, and those of custom resources, which come
// and go with their CustomResourceDefinitions. [Table] renders a list as a table, because the
// server chooses the columns.
//
// A Definition is immutable once a Catalog has it. Hooks never panic, whatever an object holds,
// and do not change the old object. Defaults, messages and tables are compared with those of
// kube-apiserver (testdata, recorded by upstream/apiserver/recorder).
//
// kube-apiserver has a Go struct for each type; a server with untyped trees needs the description
// as data. A [Type] describes one place in a document. [Builtin] returns the types of Kubernetes,
// recorded in schemas.jsonl from the OpenAPI documents of kube-apiserver and completed with what
// only its Go types know; [Custom] derives a type from the schema of a CustomResourceDefinition.
// They answer:
//
//   - Which fields of a document are unknown, and which values do not fit? [Type.Check]
//   - What remains after decoding and encoding it? [Type.Prune]
//   - How does a strategic merge patch merge a list? [Type.MergeKey], [Type.PatchStrategy]
//   - What do clients learn about the types? [OpenAPIV3Index], [OpenAPIV3]
//
// What all types share stands here, too: the errors of the API, the rules for names, and selectors
// ([ParseLabels], [ParseFields]).
//
// The texts of kubectl explain are our own (descriptions.txt). make -C upstream record-schema
// record-patches renews the recordings.
package resources

import (
	"fmt"
	"slices"

	"orrery/restclient/api"
)

// Definition describes a resource. It is immutable once it is in a [Catalog].
type Definition struct {
	// Group is the API group, "" for the core group.
	Group string
	// Versions are the served versions, preferred first. They share one storage.
	Versions []string
	// Version is the version that this definition describes. The versions of a custom resource may
	// differ in subresources, columns and selectable fields. Built-in types have only one.
	Version string

	Plural, Singular, Kind, ListKind string
	ShortNames, Categories           []string

	Namespaced bool
	// Custom reports whether the resource comes from a CustomResourceDefinition.
	Custom bool
	// Prefix is the prefix in the store: "/registry/configmaps". The two groups of events share
	// one.
	Prefix string
	// Verbs are the verbs of the resource itself, in the order of kube-apiserver's discovery.
	Verbs []string
	// Subresources are its subresources, in that order, too.
	Subresources []Subresource `json:"-"`

	// Status and Scale report whether there are these subresources.
	Status, Scale bool

	// Columns are the columns of the table.
	Columns []Column
	// Selectable are the field selectors besides metadata.name and metadata.namespace, with their
	// names in Fields.
	Selectable map[string]string
	// Fields returns the values of the selectable fields, for [store.Draft]. It may be nil.
	Fields func(o *api.Unstructured) map[string]string

	// Stored is the storage version if it differs: for events.k8s.io and autoscaling/v1.
	Stored *api.GroupVersion
	// ToStorage and FromStorage convert an object between this version and the stored one, in
	// place. They are nil if Stored is.
	ToStorage, FromStorage func(o *api.Unstructured)

	// Type describes the documents.
	Type *Type
	// Schema is the openAPIV3Schema of a custom resource, if any. It must not be changed.
	Schema map[string]any

	Strategy Strategy

	// scale has the paths of the fields of the scale subresource.
	scale *scalePaths
}

// HasVerb reports whether the resource has the verb.
func (d *Definition) HasVerb(verb string) bool { return slices.Contains(d.Verbs, verb) }

// IsReview reports whether the resource can only be created, and is not stored: the response has
// the answer.
func (d *Definition) IsReview() bool {
	return d.Group == "authentication.k8s.io" || d.Group == "authorization.k8s.io"
}

// Subresource is a subresource of a resource.
type Subresource struct {
	// Name is the last element of the path: "status".
	Name string
	// Kind is the kind of its objects. An empty group and version mean those of the resource.
	Kind  api.GroupVersionKind
	Verbs []string
}

func (d *Definition) Resource() api.GroupVersionResource {
	return api.GroupVersionResource{Group: d.Group, Version: d.Version, Resource: d.Plural}
}

func (d *Definition) GroupVersion() api.GroupVersion {
	return api.GroupVersion{Group: d.Group, Version: d.Version}
}

// PathOf returns the path of a version without the first slash: "api/v1", "apis/apps/v1".
func PathOf(gv api.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}

// GVK returns the kind of the objects.
func (d *Definition) GVK() api.GroupVersionKind {
	return api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind}
}

// InvalidGroup returns the group that validation errors name: that of the stored version.
func (d *Definition) InvalidGroup() string {
	return d.storedKind().Group
}

// storedKind returns the kind in its storage version.
func (d *Definition) storedKind() api.GroupVersionKind {
	if d.Stored != nil {
		return api.GroupVersionKind{Group: d.Stored.Group, Version: d.Stored.Version, Kind: d.Kind}
	}
	return d.GVK()
}

// Qualified returns "plural.group", or just the plural for the core group: the name of a
// CustomResourceDefinition, and the resource in error messages.
func (d *Definition) Qualified() string { return Qualified(d.Group, d.Plural) }

// FieldsOf returns the values for field selectors besides name and namespace; nil for most types.
func (d *Definition) FieldsOf(o *api.Unstructured) map[string]string {
	if d.Fields == nil {
		return nil
	}
	return d.Fields(o)
}

// Group is an API group as discovery lists it.
type Group struct {
	Name string
	// Versions are ordered by preference.
	Versions []GroupVersion
}

type GroupVersion struct {
	Version string
	// Definitions are sorted by plural name.
	Definitions []*Definition
	// Unavailable marks a version of another server: discovery lists it as stale and requests to it
	// get 503.
	Unavailable bool
	// Outdated marks a version that aggregated discovery lists as stale although it is served.
	Outdated bool
}

type Column struct {
	// Name is the heading, which kubectl shows in upper case.
	Name string
	// Type is the OpenAPI type of the cells: "string", "integer", "number", "boolean" or "date".
	Type string
	// Format is the OpenAPI format: "name" for the column with the object's name, usually "".
	Format      string
	Description string
	// Priority 0 is always shown; others only by `-o wide`.
	Priority int32
	Cell     cell
}

// FieldSelector translates a selector to the names that [Definition.Fields] uses. The error for an
// unsupported field has kube-apiserver's text.
func (d *Definition) FieldSelector(s Fields) (Fields, error) {
	renamed := slices.Clone(s)
	for i, condition := range renamed {
		everywhere := d.Namespaced || !d.Custom && len(d.Selectable) == 0
		stored, selectable := d.Selectable[condition.Field]
		switch field := condition.Field; {
		case field == "metadata.name", field == "metadata.namespace" && everywhere:
		case selectable:
			renamed[i].Field = stored
		case d.Custom || len(d.Selectable) > 0:
			return nil, fmt.Errorf("field label not supported: %s", field)
		default:
			return nil, fmt.Errorf(
				`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, field)
		}
	}
	return renamed, nil
}
