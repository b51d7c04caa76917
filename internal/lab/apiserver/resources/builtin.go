package resources

import (
	"bytes"
	"embed"
	"encoding/json"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"orrery/restclient/api"
)

//go:embed builtin.jsonl
var recordedResources string

// record is a line of builtin.jsonl: a resource as discovery and tables of kube-apiserver describe
// it. The file is written by upstream/apiserver/recorder.
type record struct {
	*Definition
	Subresources []struct {
		Name string
		api.GroupVersionKind
		Verbs []string
	}
}

// builtinDefinitions returns the built-in types in the order of kube-apiserver's discovery. What
// holds for each type is recorded; the exceptions are in types.yaml and builtinHooks.
func builtinDefinitions() []*Definition {
	hooks := builtinHooks(&allocator{})
	var definitions []*Definition
	decoder := json.NewDecoder(strings.NewReader(recordedResources))
	for decoder.More() {
		var r record
		if err := decoder.Decode(&r); err != nil {
			panic("resources: builtin.jsonl: " + err.Error())
		}
		r.complete(hooks)
		definitions = append(definitions, r.Definition)
	}
	return definitions
}

// complete adds to a definition what is not recorded.
func (r record) complete(all map[string]hooks) {
	d := r.Definition
	d.Versions, d.ListKind, d.Prefix = []string{d.Version}, d.Kind+"List", "/registry/"+d.Plural
	for _, s := range r.Subresources {
		part := Subresource{Name: s.Name, Kind: s.GroupVersionKind, Verbs: s.Verbs}
		d.Subresources = append(d.Subresources, part)
		d.Status = d.Status || s.Name == "status"
		d.Scale = d.Scale || s.Name == "scale"
	}
	d.Type, _ = Builtin().Type(d.GVK())
	for i := range d.Columns {
		c := &d.Columns[i]
		from, special := sources()[d.Qualified()][c.Name]
		if !special {
			from = sources()["every type"][c.Name]
		}
		c.Description, c.Cell = c.Name+" of the object.", from.cell(c.Type)
	}
	if d.Scale {
		d.scale = replicaPaths
	}
	t, h := typeRules()[d.Qualified()], all[d.Qualified()]
	d.selectPaths(t.Selectable)
	d.Strategy = strategy(d, t, h)
	if h.special != nil {
		h.special(d)
	}
}

// rules are how a type differs from the default, as types.yaml says.
type rules struct {
	// Generation says which changes metadata.generation counts, from 1: none, [counted] or
	// [countedMore].
	Generation string
	// Conditional is the opposite of AllowUnconditionalUpdate.
	Conditional bool
	// Loose is LooseFinalizers, Name a key of nameRules for ValidateName.
	Loose bool
	Name  string
	// Orphans makes Orphan the default propagation policy.
	Orphans bool
	// Status is that of a new object. With SentStatus it keeps the client's.
	Status     tree
	SentStatus bool `yaml:"sentStatus"`
	// StatusKeeps are metadata fields that a write to the status cannot change.
	StatusKeeps []string `yaml:"statusKeeps"`
	// Selectable are the selectable fields, as paths or name=path.
	Selectable []string
}

const (
	// counted are all changes outside of the metadata and the status, countedMore also those of
	// annotations, because a rollout records its cause in one.
	counted     = "counted"
	countedMore = "counted with annotations"
)

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

var nameRules = map[string]NameRule{"label": dnsLabel, "path segment": pathSegment}

// hooks are what a type computes. Each may be nil.
type hooks struct {
	// create runs for a new object, update for an updated one before the generation is counted.
	create func(o *api.Unstructured)
	update func(o, old *api.Unstructured)

	// validate validates new and updated objects, and validateUpdate the changes of an update.
	validate       func(o *api.Unstructured) []FieldError
	validateUpdate func(o, old *api.Unstructured) []FieldError

	// special adjusts the finished definition.
	special func(d *Definition)
}

// builtinHooks returns what built-in types compute, by qualified name.
func builtinHooks(a *allocator) map[string]hooks {
	return map[string]hooks{
		"namespaces": {
			create: prepareNamespace, special: finalizeNamespace,
			update:   func(o, old *api.Unstructured) { keep(o, old, "spec", "finalizers") },
			validate: func(o *api.Unstructured) []FieldError { return namespaceFinalizers(o, false) },
		},
		"persistentvolumeclaims": {create: protectClaim},
		"pods": {
			validate: validatePod, validateUpdate: validatePodUpdate,
			special: func(d *Definition) { d.Strategy.GraceSeconds = podGrace },
		},
		"services": {
			create: func(o *api.Unstructured) { a.allocate(ensure(o.Object, "spec")) }, update: a.prepareServiceUpdate,
		},
		"deployments.apps": workload("deployment"),
		"replicasets.apps": workload("replicaset"),
		"horizontalpodautoscalers.autoscaling": {
			special: func(d *Definition) { d.Versions = []string{"v2", "v1"} }, // which differ in apiVersion only
		},
		"events.events.k8s.io": {special: groupEvents},
		"customresourcedefinitions.apiextensions.k8s.io": {
			create: rememberVersions, update: func(o, _ *api.Unstructured) { rememberVersions(o) },
			validate: validateCRD, validateUpdate: validateCRDUpdate,
			special: func(d *Definition) { d.Strategy.Warnings = ignoredParts },
		},
		"apiservices.apiregistration.k8s.io": {validate: validateAPIService},
	}
}

// strategy returns the strategy of a type.
func strategy(d *Definition, r rules, h hooks) Strategy {
	s := Strategy{
		LooseFinalizers: r.Loose, ValidateName: nameRules[r.Name], AllowUnconditionalUpdate: !r.Conditional,
		Validate: h.validate, Default: d.fillIn, PrepareStatus: statusKeepsMetadata(r.StatusKeeps...),
	}
	if r.Orphans {
		s.DefaultPropagation = api.DeletePropagationOrphan
	}
	if h.validate != nil {
		s.ValidateUpdate = func(o, old *api.Unstructured) []FieldError {
			errs := h.validate(o)
			if h.validateUpdate != nil {
				errs = append(errs, h.validateUpdate(o, old)...)
			}
			return errs
		}
	}
	s.PrepareCreate = func(o *api.Unstructured) {
		if d.Status && !r.SentStatus {
			d.resetStatus(o, r.Status)
		}
		if r.Generation != "" {
			setGeneration(o, 1)
		}
		if h.create != nil {
			h.create(o)
		}
	}
	s.PrepareUpdate = func(o, old *api.Unstructured) {
		if d.Status {
			keepStatus(o, old)
		}
		if h.update != nil {
			h.update(o, old)
		}
		annotated := !same(o.Nested("metadata", "annotations"), old.Nested("metadata", "annotations"))
		nextGeneration(o, old, r.Generation == countedMore && annotated ||
			r.Generation != "" && contentChanged(o, old, true))
	}
	return s
}

// fillIn sets the defaults of an object of a built-in type.
func (d *Definition) fillIn(o *api.Unstructured) {
	if o.Object == nil {
		o.Object = tree{}
	}
	stored, _ := Builtin().Type(d.storedKind())
	if spec, _ := stored.Field("spec"); spec.Struct() {
		ensure(o.Object, "spec")
	}
	fillIn(stored, o.Object)
}

// resetStatus sets the status of a new object.
func (d *Definition) resetStatus(o *api.Unstructured, initial tree) {
	status := tree{}
	fillFrom(status, initial)
	o.Object["status"] = status
	if field, known := d.Type.Field("status"); known {
		fillIn(field, status)
	}
}
