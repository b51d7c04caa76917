package resources

import (
	_ "embed"
	"encoding/json"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

//go:embed builtin.jsonl
var recordedResources string

// record is a line of builtin.jsonl: what discovery and tables of a kube-apiserver say of a resource. The file is written
// by upstream/apiserver/schemarecorder.
type record struct {
	Group, Version         string
	Plural, Singular, Kind string
	Namespaced             bool
	Verbs                  []string
	ShortNames, Categories []string
	Subresources           []struct {
		Name, Group, Version, Kind string
		Verbs                      []string
	}
	Columns []struct {
		Name, Type, Format string
		Priority           int32
	}
}

// records returns all resources of a kube-apiserver in the order of its discovery, but for the reviews, which are not
// stored.
func records() []record {
	var all []record
	decoder := json.NewDecoder(strings.NewReader(recordedResources))
	for decoder.More() {
		var r record
		if err := decoder.Decode(&r); err != nil {
			panic("resources: builtin.jsonl: " + err.Error()) // it is part of the program
		}
		if r.Group != "authentication.k8s.io" && r.Group != "authorization.k8s.io" {
			all = append(all, r)
		}
	}
	return all
}

// builtinDefinitions returns the built-in types, by group in the order of kube-apiserver's discovery: all that it serves by
// default. What can be said of each in general is recorded; what is special about some is in the table of types.
func builtinDefinitions() []*Definition {
	types := builtinTypes(newAllocator())
	var definitions []*Definition
	for _, r := range records() {
		definitions = append(definitions, r.definition(types))
	}
	return definitions
}

func (r record) definition(types map[string]traits) *Definition {
	d := &Definition{
		Group: r.Group, Versions: []string{r.Version}, Version: r.Version,
		Plural: r.Plural, Singular: r.Singular, Kind: r.Kind, ListKind: r.Kind + "List",
		Namespaced: r.Namespaced, ShortNames: r.ShortNames, Categories: r.Categories,
		Prefix: "/registry/" + r.Plural,
	}
	if len(r.Verbs) != len(allVerbs) {
		d.Verbs = r.Verbs
	}
	for _, s := range r.Subresources {
		d.parts = append(d.parts, Subresource{
			Name: s.Name, Kind: api.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}, Verbs: s.Verbs,
		})
		d.Status = d.Status || s.Name == "status"
		d.Finalize = d.Finalize || s.Name == "finalize"
		d.Scale = d.Scale || s.Name == "scale"
	}
	d.Type, _ = schema.Builtin().Type(api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind})
	t := types[d.Qualified()]
	d.Columns, d.scale = r.columns(t.cells), t.scale
	d.selectPaths(t.selectable, true)
	if t.fields != nil {
		atPaths := d.Fields
		d.Fields = func(o *api.Unstructured) map[string]string {
			fields := atPaths(o)
			t.fields(o.Object, fields)
			return fields
		}
	}
	d.Strategy = t.strategy(d)
	if t.special != nil {
		t.special(d)
	}
	return d
}

// columns makes the columns of a table from those of the record, with cells.
func (r record) columns(cells map[string]cell) []Column {
	var columns []Column
	for _, c := range r.Columns {
		column := Column{
			Name: c.Name, Type: c.Type, Format: c.Format, Priority: c.Priority, Cell: cells[c.Name], Description: c.Name + " of the object.",
		}
		switch {
		case column.Cell != nil:
		case c.Name == "Name":
			column.Description, column.Cell = nameColumn().Description, objectName
		case c.Name == "Age":
			column.Description, column.Cell = ageColumn().Description, age
		case c.Name == "Created At":
			column.Description, column.Cell = "When the object was created.", created
		default:
			panic("resources: no cell for " + r.Plural + " " + c.Name) // a programming error
		}
		columns = append(columns, column)
	}
	return columns
}

// traits say in what a type differs from the plainest one. The zero value is a type without generation, that an update does
// not create, and whose updates need no resourceVersion.
type traits struct {
	// generation says whether the changes of the object outside of its metadata and status are counted.
	generation counting
	// createOnUpdate and conditional are AllowCreateOnUpdate and the contrary of AllowUnconditionalUpdate.
	createOnUpdate, conditional bool
	// loose is LooseFinalizers, meta is UpdateMeta, name is ValidateName.
	loose bool
	meta  MetaCheck
	name  NameRule
	// orphans makes Orphan the default propagation.
	orphans bool

	// fill fills in what depends on other fields, after the defaults of the types.
	fill func(o tree)
	// status is that of a new object; nil is an empty one. sentStatus: a new object keeps what the client sent.
	status     func(o tree) tree
	sentStatus bool
	// create is done to a new object; update to one that is updated, before it is known whether it has changed; prepare to
	// both, after the generation is known.
	create  func(o *api.Unstructured)
	update  func(o, old *api.Unstructured)
	prepare func(o *api.Unstructured)
	// statusKeeps are fields of the metadata that a write to the status leaves alone.
	statusKeeps []string

	// validate and validateUpdate are those of the strategy. Without the latter updates are checked like new objects.
	validate       func(o *api.Unstructured) []apierrors.FieldError
	validateUpdate func(o, old *api.Unstructured) []apierrors.FieldError

	// selectable are fields by which clients may select. fields corrects those whose value is not the text at that place.
	selectable []string
	fields     func(o tree, fields map[string]string)
	scale      *scalePaths
	cells      map[string]cell
	// parts is Parts.
	parts map[string]func(o, old *api.Unstructured)
	// special changes the finished definition.
	special func(d *Definition)
}

// counting is how a type counts its changes.
type counting int

const (
	_ counting = iota
	// counted is from 1 on.
	counted
	// countedOnce is 1 for ever.
	countedOnce
	// countedLater begins with the first change.
	countedLater
)

// strategy makes the hooks of a type.
func (t traits) strategy(d *Definition) Strategy {
	s := Strategy{
		Parts: t.parts, UpdateMeta: t.meta, LooseFinalizers: t.loose, ValidateName: t.name,
		AllowCreateOnUpdate: t.createOnUpdate, AllowUnconditionalUpdate: !t.conditional,
		Validate: t.validate, ValidateUpdate: t.validateUpdate,
		Default: func(o *api.Unstructured) { t.fillIn(d, o) }, PrepareStatus: keepAllButStatus,
	}
	if t.orphans {
		s.DefaultPropagation = api.DeletePropagationOrphan
	}
	if t.statusKeeps != nil {
		s.PrepareStatus = statusKeepsMetadata(t.statusKeeps...)
	}
	if t.validate != nil && t.validateUpdate == nil {
		s.ValidateUpdate = func(o, _ *api.Unstructured) []apierrors.FieldError { return t.validate(o) }
	}
	s.PrepareCreate = func(o *api.Unstructured) {
		if d.Status && !t.sentStatus {
			t.resetStatus(d, o)
		}
		if t.generation == counted || t.generation == countedOnce {
			firstGeneration(o)
		}
		if t.create != nil {
			t.create(o)
		}
		if t.prepare != nil {
			t.prepare(o)
		}
	}
	s.PrepareUpdate = func(o, old *api.Unstructured) {
		if d.Status {
			keepStatus(o, old)
		}
		if t.update != nil {
			t.update(o, old)
		}
		counts := t.generation == counted || t.generation == countedLater
		nextGeneration(o, old, counts && contentChanged(o, old, true))
		if t.prepare != nil {
			t.prepare(o)
		}
	}
	return s
}

// fillIn is the Default of a type.
func (t traits) fillIn(d *Definition, o *api.Unstructured) {
	if o.Object == nil {
		o.Object = tree{}
	}
	stored, _ := schema.Builtin().Type(d.storedKind())
	if spec, _ := stored.Field("spec"); spec.Struct() {
		made(o.Object, "spec")
	}
	fillIn(stored, o.Object)
	if t.fill != nil {
		t.fill(o.Object)
	}
}

// resetStatus gives a new object its first status.
func (t traits) resetStatus(d *Definition, o *api.Unstructured) {
	status := tree{}
	if t.status != nil {
		status = t.status(o.Object)
	}
	o.Object["status"] = status
	if field, known := d.Type.Field("status"); known {
		fillIn(field, status)
	}
}
