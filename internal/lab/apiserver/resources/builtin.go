package resources

import (
	"bytes"
	"embed"
	"encoding/json"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"orrery/internal/lab/apiserver/meta"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

//go:embed builtin.jsonl
var recordedResources string

// record is a line of builtin.jsonl: a resource as discovery and tables of kube-apiserver describe
// it. The file is written by upstream/apiserver/recorder.
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

// records returns all resources in the order of kube-apiserver's discovery.
func records() []record {
	var all []record
	decoder := json.NewDecoder(strings.NewReader(recordedResources))
	for decoder.More() {
		var r record
		if err := decoder.Decode(&r); err != nil {
			panic("resources: builtin.jsonl: " + err.Error())
		}
		all = append(all, r)
	}
	return all
}

// builtinDefinitions returns the built-in types in the order of kube-apiserver's discovery. What
// holds for each type is recorded; the exceptions are in types.yaml and builtinHooks.
func builtinDefinitions() []*Definition {
	computed := builtinHooks(newAllocator())
	var definitions []*Definition
	for _, r := range records() {
		definitions = append(definitions, r.definition(computed))
	}
	return definitions
}

func (r record) definition(computed map[string]hooks) *Definition {
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
	t, h := typeRules()[d.Qualified()], computed[d.Qualified()]
	d.Columns = r.columns(d.Qualified())
	if d.Scale {
		d.scale = replicaPaths
	}
	d.selectPaths(t.Selectable, true)
	if h.fields != nil {
		atPaths := d.Fields
		d.Fields = func(o *api.Unstructured) map[string]string {
			fields := atPaths(o)
			h.fields(o.Object, fields)
			return fields
		}
	}
	d.Strategy = strategy(d, t, h)
	if h.special != nil {
		h.special(d)
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

// rules are how a type differs from the default, as types.yaml says.
type rules struct {
	// Generation says whether changes outside of the metadata and status are counted.
	Generation generationPolicy
	// CreateOnUpdate is AllowCreateOnUpdate; Conditional is the opposite of
	// AllowUnconditionalUpdate.
	CreateOnUpdate bool `yaml:"createOnUpdate"`
	Conditional    bool
	// Loose is LooseFinalizers, Name a key of nameRules for ValidateName.
	Loose bool
	Name  string
	// Orphans makes Orphan the default propagation policy.
	Orphans bool
	// Phase is that of a new object. With SentStatus a new object keeps the client's status.
	Phase      string
	SentStatus bool `yaml:"sentStatus"`
	// StatusKeeps are metadata fields that a write to the status cannot change.
	StatusKeeps []string `yaml:"statusKeeps"`
	// Selectable are the selectable fields.
	Selectable []string
}

// typeRules maps qualified names of types to their rules.
var typeRules = sync.OnceValue(func() map[string]rules { return decoded[map[string]rules]("types.yaml") })

//go:embed *.yaml
var files embed.FS

// decoded returns the value in a file of the package.
func decoded[T any](name string) (value T) {
	text, err := files.ReadFile(name)
	if err == nil {
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		err = decoder.Decode(&value)
	}
	if err != nil {
		panic("resources: " + name + ": " + err.Error())
	}
	return value
}

// generationPolicy is how a type maintains metadata.generation.
type generationPolicy string

const (
	// counted starts at 1 and counts changes.
	counted generationPolicy = "counted"
	// countedOnce stays at 1.
	countedOnce generationPolicy = "counted once"
	// countedLater is set by the first change.
	countedLater generationPolicy = "counted later"
)

var nameRules = map[string]NameRule{"label": labelName, "path segment": meta.PathSegment}

// hooks are what a type computes. Each may be nil.
type hooks struct {
	// fill sets defaults that depend on other fields, after those of the types.
	fill func(o tree)
	// status returns the status of a new object, instead of its phase.
	status func(o tree) tree
	// create runs for a new object. update runs for an updated one before the generation is
	// computed, prepare for both afterwards.
	create  func(o *api.Unstructured)
	update  func(o, old *api.Unstructured)
	prepare func(o *api.Unstructured)

	// validate validates new and updated objects, and validateUpdate the changes of an update.
	validate       func(o *api.Unstructured) []meta.FieldError
	validateUpdate func(o, old *api.Unstructured) []meta.FieldError

	// fields corrects the selectable fields whose value is not the text at their path.
	fields func(o tree, fields map[string]string)
	// special adjusts the finished definition.
	special func(d *Definition)
}

// strategy returns the strategy of a type.
func strategy(d *Definition, r rules, h hooks) Strategy {
	s := Strategy{
		LooseFinalizers: r.Loose, ValidateName: nameRules[r.Name],
		AllowCreateOnUpdate: r.CreateOnUpdate, AllowUnconditionalUpdate: !r.Conditional,
		Validate: h.validate,
		Default:  func(o *api.Unstructured) { h.fillIn(d, o) }, PrepareStatus: keepAllButStatus,
	}
	if r.Orphans {
		s.DefaultPropagation = api.DeletePropagationOrphan
	}
	if r.StatusKeeps != nil {
		s.PrepareStatus = statusKeepsMetadata(r.StatusKeeps...)
	}
	if h.validate != nil {
		s.ValidateUpdate = func(o, old *api.Unstructured) []meta.FieldError {
			errs := h.validate(o)
			if h.validateUpdate != nil {
				errs = append(errs, h.validateUpdate(o, old)...)
			}
			return errs
		}
	}
	s.PrepareCreate = func(o *api.Unstructured) {
		if d.Status && !r.SentStatus {
			h.resetStatus(d, o, r.Phase)
		}
		if r.Generation == counted || r.Generation == countedOnce {
			firstGeneration(o)
		}
		if h.create != nil {
			h.create(o)
		}
		if h.prepare != nil {
			h.prepare(o)
		}
	}
	s.PrepareUpdate = func(o, old *api.Unstructured) {
		if d.Status {
			keepStatus(o, old)
		}
		if h.update != nil {
			h.update(o, old)
		}
		counts := r.Generation == counted || r.Generation == countedLater
		nextGeneration(o, old, counts && contentChanged(o, old, true))
		if h.prepare != nil {
			h.prepare(o)
		}
	}
	return s
}

// fillIn is the Default hook of a type.
func (h hooks) fillIn(d *Definition, o *api.Unstructured) {
	if o.Object == nil {
		o.Object = tree{}
	}
	stored, _ := schema.Builtin().Type(d.storedKind())
	if spec, _ := stored.Field("spec"); spec.Struct() {
		ensure(o.Object, "spec")
	}
	fillIn(stored, o.Object)
	if h.fill != nil {
		h.fill(o.Object)
	}
}

// resetStatus sets the status of a new object.
func (h hooks) resetStatus(d *Definition, o *api.Unstructured, phase string) {
	status := tree{}
	if phase != "" {
		status["phase"] = phase
	}
	if h.status != nil {
		status = h.status(o.Object)
	}
	o.Object["status"] = status
	if field, known := d.Type.Field("status"); known {
		fillIn(field, status)
	}
}
