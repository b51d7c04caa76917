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

// record is a line of builtin.jsonl: a resource as discovery and tables of kube-apiserver describe
// it. The file is written by upstream/apiserver/schemarecorder.
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

// records returns all resources in the order of kube-apiserver's discovery, except the reviews,
// which are not stored.
func records() []record {
	var all []record
	decoder := json.NewDecoder(strings.NewReader(recordedResources))
	for decoder.More() {
		var r record
		if err := decoder.Decode(&r); err != nil {
			panic("resources: builtin.jsonl: " + err.Error())
		}
		if r.Group != "authentication.k8s.io" && r.Group != "authorization.k8s.io" {
			all = append(all, r)
		}
	}
	return all
}

// builtinDefinitions returns the built-in types in the order of kube-apiserver's discovery. What
// holds for each type is recorded; the exceptions are in builtinTypes.
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
	d.Columns, d.scale = r.columns(d.Qualified()), t.scale
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

// columns returns the recorded columns of the type with their cells.
func (r record) columns(name string) []Column {
	var columns []Column
	for _, c := range r.Columns {
		from, special := sources()[name][c.Name]
		if !special {
			from = sources()["every type"][c.Name]
		}
		columns = append(columns, Column{
			Name: c.Name, Type: c.Type, Format: c.Format, Priority: c.Priority,
			Description: c.Name + " of the object.", Cell: from.cell(c.Type),
		})
	}
	return columns
}

// traits describe how a type differs from the default. The zero value is a type without generation,
// without creation by update, and whose updates need no resourceVersion.
type traits struct {
	// generation says whether changes outside of the metadata and status are counted.
	generation generationPolicy
	// createOnUpdate is AllowCreateOnUpdate; conditional is the opposite of
	// AllowUnconditionalUpdate.
	createOnUpdate, conditional bool
	// The fields of Strategy: LooseFinalizers, UpdateMeta, ValidateName.
	loose bool
	meta  MetaCheck
	name  NameRule
	// orphans makes Orphan the default propagation policy.
	orphans bool

	// fill sets defaults that depend on other fields, after those of the types.
	fill func(o tree)
	// status returns the status of a new object; nil means empty. With sentStatus a new object
	// keeps the client's.
	status     func(o tree) tree
	sentStatus bool
	// create runs for a new object. update runs for an updated one before the generation is
	// computed, prepare for both afterwards.
	create  func(o *api.Unstructured)
	update  func(o, old *api.Unstructured)
	prepare func(o *api.Unstructured)
	// statusKeeps are metadata fields that a write to the status cannot change.
	statusKeeps []string

	// validate and validateUpdate are the hooks of Strategy. Without validateUpdate, updates are
	// validated like new objects.
	validate       func(o *api.Unstructured) []apierrors.FieldError
	validateUpdate func(o, old *api.Unstructured) []apierrors.FieldError

	// selectable are the selectable fields. fields corrects those whose value is not the text at
	// their path.
	selectable []string
	fields     func(o tree, fields map[string]string)
	scale      *scalePaths
	// special adjusts the finished definition.
	special func(d *Definition)
}

// generationPolicy is how a type maintains metadata.generation.
type generationPolicy int

const (
	_ generationPolicy = iota
	// counted starts at 1 and counts changes.
	counted
	// countedOnce stays at 1.
	countedOnce
	// countedLater is set by the first change.
	countedLater
)

// strategy returns the hooks of a type.
func (t traits) strategy(d *Definition) Strategy {
	s := Strategy{
		UpdateMeta: t.meta, LooseFinalizers: t.loose, ValidateName: t.name,
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

// fillIn is the Default hook of a type.
func (t traits) fillIn(d *Definition, o *api.Unstructured) {
	if o.Object == nil {
		o.Object = tree{}
	}
	stored, _ := schema.Builtin().Type(d.storedKind())
	if spec, _ := stored.Field("spec"); spec.Struct() {
		ensure(o.Object, "spec")
	}
	fillIn(stored, o.Object)
	if t.fill != nil {
		t.fill(o.Object)
	}
}

// resetStatus sets the status of a new object.
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
