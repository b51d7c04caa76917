package resources

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"orrery/restclient/api"
)

// customDefinitions returns the definitions of a custom resource, one per served version, preferred
// first.
func customDefinitions(crd *api.Unstructured) ([]*Definition, error) {
	spec := child(crd.Object, "spec")
	byName := map[string]tree{}
	var served []string
	for _, version := range items(spec, "versions") {
		if name := text(version, "name"); boolean(version, "served") && byName[name] == nil {
			served = append(served, name)
			byName[name] = version
		}
	}
	slices.SortFunc(served, compareVersions)
	var definitions []*Definition
	for _, name := range served {
		d, err := customDefinition(spec, name, byName[name])
		if err != nil {
			return nil, fmt.Errorf("%s, version %s: %w", crd.GetName(), name, err)
		}
		d.Versions = served
		definitions = append(definitions, d)
	}
	return definitions, nil
}

// StoredAs returns the definition of a custom resource in its storage version, even if that is not
// served. It is needed to delete the objects.
func StoredAs(crd *api.Unstructured) (*Definition, error) {
	spec := child(crd.Object, "spec")
	for _, version := range items(spec, "versions") {
		if boolean(version, "storage") {
			return customDefinition(spec, text(version, "name"), version)
		}
	}
	return nil, fmt.Errorf("%s has no storage version", crd.GetName())
}

// CustomPrefix returns the store prefix of the custom resource of a definition such as
// "crontabs.stable.example.com".
func CustomPrefix(crdName string) string {
	plural, group, _ := strings.Cut(crdName, ".")
	return "/registry/" + group + "/" + plural
}

func customDefinition(spec tree, name string, version tree) (*Definition, error) {
	names, subresources := child(spec, "names"), child(version, "subresources")
	d := &Definition{
		Group: text(spec, "group"), Version: name, Custom: true,
		Plural: text(names, "plural"), Singular: text(names, "singular"),
		Kind: text(names, "kind"), ListKind: text(names, "listKind"),
		ShortNames: texts(names, "shortNames"), Categories: texts(names, "categories"),
		Namespaced: text(spec, "scope") == "Namespaced",
		Verbs:      []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
	}
	if d.Group == "" || d.Plural == "" || d.Kind == "" {
		return nil, fmt.Errorf("group, plural and kind are required")
	}
	d.Prefix = CustomPrefix(d.Qualified())
	if d.Singular == "" {
		d.Singular = strings.ToLower(d.Kind)
	}
	if d.ListKind == "" {
		d.ListKind = d.Kind + "List"
	}
	readAndWrite := []string{"get", "patch", "update"}
	if d.Status = child(subresources, "status") != nil; d.Status {
		status := Subresource{Name: "status", Kind: api.GroupVersionKind{Kind: d.Kind}, Verbs: readAndWrite}
		d.Subresources = append(d.Subresources, status)
	}
	if paths := child(subresources, "scale"); paths != nil {
		d.Scale = true
		d.Subresources = append(d.Subresources, Subresource{Name: "scale", Kind: Scales().GVK(), Verbs: readAndWrite})
		d.scale = &scalePaths{
			replicas: simpleSteps(text(paths, "specReplicasPath")),
			status:   simpleSteps(text(paths, "statusReplicasPath")),
			selector: simpleSteps(text(paths, "labelSelectorPath")),
		}
	}
	d.Schema = child(child(version, "schema"), "openAPIV3Schema")
	d.Type = Custom(d.Schema)
	var err error
	if d.Columns, err = customColumns(version); err != nil {
		return nil, err
	}
	d.selectable(version)
	d.Strategy = customStrategy(d)
	return d, nil
}

// simpleSteps splits a path such as ".spec.replicas".
func simpleSteps(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}

// selectable sets the selectable fields of a version.
func (d *Definition) selectable(version tree) {
	var paths []string
	for _, field := range items(version, "selectableFields") {
		if path := strings.TrimPrefix(text(field, "jsonPath"), "."); path != "" {
			paths = append(paths, path)
		}
	}
	d.selectPaths(paths)
}

// selectPaths makes fields selectable by paths or, as name=path, by another name. An absent field
// of a built-in type has its zero value.
func (d *Definition) selectPaths(rows []string) {
	if len(rows) == 0 {
		return
	}
	var paths []string
	d.Selectable = map[string]string{}
	for _, row := range rows {
		name, path, renamed := strings.Cut(row, "=")
		if !renamed {
			path = name
		}
		d.Selectable[name], paths = path, append(paths, path)
	}
	d.Fields = func(o *api.Unstructured) map[string]string {
		fields := make(map[string]string, len(paths))
		for _, path := range paths {
			if value := o.Nested(strings.Split(path, ".")...); value != nil {
				fields[path] = fmt.Sprint(value)
			} else if !d.Custom {
				fields[path] = d.unset(path)
			}
		}
		return fields
	}
}

// unset is the value of an absent field of a built-in type.
func (d *Definition) unset(path string) string {
	field := d.Type
	for step := range strings.SplitSeq(path, ".") {
		field, _ = field.Field(step)
	}
	switch field.Kind() {
	case Boolean:
		return "false"
	case Integer:
		return "0"
	}
	return ""
}

// customStrategy returns the strategy of a custom resource.
func customStrategy(d *Definition) Strategy {
	status, schema := d.Status, sync.OnceValue(func() *jsonschema.Schema { return compiled(d.Schema) })
	s := Strategy{
		Default: func(o *api.Unstructured) { d.Type.FillIn(o.Object) },
		PrepareCreate: func(o *api.Unstructured) {
			if status {
				delete(o.Object, "status")
			}
			d.Type.FillIn(o.Object) // kube-apiserver applies the defaults when it reads from etcd
			setGeneration(o, 1)
		},
		PrepareUpdate: func(o, old *api.Unstructured) {
			if status {
				keepStatus(o, old)
			}
			nextGeneration(o, old, contentChanged(o, old, status))
		},
		Validate: func(o *api.Unstructured) []FieldError {
			return validateCustom(schema(), o, &api.Unstructured{})
		},
		ValidateUpdate: func(o, old *api.Unstructured) []FieldError { return validateCustom(schema(), o, old) },
	}
	s.ValidateStatusUpdate = s.ValidateUpdate
	if status {
		s.PrepareStatus = statusKeepsMetadata("labels", "annotations", "finalizers", "ownerReferences", "generation")
	}
	return s
}

// contentChanged compares two objects except for kind, apiVersion and metadata, and except for the
// status if it is a subresource.
func contentChanged(o, old *api.Unstructured, status bool) bool {
	changed := func(a, b tree) bool {
		for key := range a {
			if !isHead(key) && (key != "status" || !status) && !same(a[key], b[key]) {
				return true
			}
		}
		return false
	}
	return changed(o.Object, old.Object) || changed(old.Object, o.Object)
}

// customColumns returns the name and the columns of the definition, or the name and the age.
func customColumns(version tree) ([]Column, error) {
	columns := []Column{nameColumn()}
	added := items(version, "additionalPrinterColumns")
	if len(added) == 0 {
		added = []tree{{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
			"description": "The time since the object was created."}}
	}
	for _, column := range added {
		path, err := parseJSONPath(text(column, "jsonPath"))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", text(column, "name"), err)
		}
		kind := text(column, "type")
		columns = append(columns, Column{
			Name: text(column, "name"), Type: kind, Format: text(column, "format"),
			Description: cmp.Or(text(column, "description"), "The value at "+text(column, "jsonPath")+"."),
			Priority:    int32(integer(column, "priority")),
			Cell: func(o *api.Unstructured, now time.Time) any {
				return customCell(kind, path.find(o.Object), now)
			},
		})
	}
	return columns, nil
}

// customCell returns the cell of the first value found, or nil if there is none of the column's
// type.
func customCell(kind string, found []any, now time.Time) any {
	if len(found) == 0 {
		return nil
	}
	switch v := found[0].(type) {
	case int64, float64:
		if fraction, ok := v.(float64); ok && kind == "integer" {
			return int64(fraction)
		}
		if kind == "integer" || kind == "number" {
			return v
		}
	case bool:
		if kind == "boolean" {
			return v
		}
	case string:
		if kind == "date" {
			return ageOf(v, now)
		}
	}
	if kind == "string" {
		return printed(found[0])
	}
	return nil
}

// printed formats a value as text: scalars as they are, others as JSON.
func printed(value any) string {
	switch value.(type) {
	case nil:
		return ""
	case map[string]any, []any:
		return encoded(value)
	}
	return fmt.Sprint(value)
}

// rememberVersions records in the status the versions in which objects may be stored.
func rememberVersions(o *api.Unstructured) {
	status := ensure(o.Object, "status")
	for _, version := range items(child(o.Object, "spec"), "versions") {
		if name := text(version, "name"); boolean(version, "storage") &&
			!slices.Contains(texts(status, "storedVersions"), name) {
			extend(status, "storedVersions", name)
		}
	}
}

// ignoredRules is the warning for a definition with rules.
const ignoredRules = "this server ignores the rules in x-kubernetes-validations"

// ignoredParts warns of unsupported formats and of rules.
func ignoredParts(o *api.Unstructured) []string {
	var warnings []string
	for _, version := range items(child(o.Object, "spec"), "versions") {
		eachSchema(child(version, "schema"), func(schema tree) {
			if format := text(schema, "format"); !knowsFormat(format) {
				warnings = append(warnings, fmt.Sprintf("unrecognized format %q", format))
			}
			if _, ruled := schema["x-kubernetes-validations"].([]any); ruled {
				warnings = append(warnings, ignoredRules)
			}
		})
	}
	slices.Sort(warnings)
	return slices.Compact(warnings)
}

// validateCRD validates what this server needs to serve the type.
func validateCRD(o *api.Unstructured) []FieldError {
	var m Errors
	spec := child(o.Object, "spec")
	crdNames := child(spec, "names")
	if o.GetName() != text(crdNames, "plural")+"."+text(spec, "group") {
		m.Invalid("metadata.name", o.GetName(), `must be spec.names.plural+"."+spec.group`)
	}
	for _, key := range []string{"plural", "singular", "kind", "listKind"} {
		if text(crdNames, key) == "" {
			m.required("spec.names."+key, "")
		}
	}
	switch scope := text(spec, "scope"); scope {
	case "Cluster", "Namespaced":
	case "":
		m.required("spec.scope", "")
	default:
		m.Add(FieldNotSupported, "spec.scope", scope, `supported values: "Cluster", "Namespaced"`)
	}
	storage := 0
	for i, version := range items(spec, "versions") {
		if child(child(version, "schema"), "openAPIV3Schema") == nil {
			m.required(indexed("spec.versions", i)+".schema.openAPIV3Schema", "")
		}
		if boolean(version, "storage") {
			storage++
		}
		for k, column := range items(version, "additionalPrinterColumns") {
			path, field := text(column, "jsonPath"), indexed("spec.additionalPrinterColumns", k)+".JSONPath"
			if path == "" {
				m.required(field, "")
			} else if !strings.HasPrefix(path, ".") {
				m.Invalid(field, path, "must be a simple json path starting with .")
			} else if _, err := parseJSONPath(path); err != nil {
				m.Invalid(field, path, "is not a valid json path: "+err.Error())
			}
		}
	}
	if storage != 1 {
		m.Invalid("spec.versions", spec["versions"], "must have exactly one version marked as storage version")
	}
	return m
}

// validateCRDUpdate keeps the group, the plural name and, once objects may exist, the scope and the
// kind.
func validateCRDUpdate(o, old *api.Unstructured) []FieldError {
	var m Errors
	fixed := [][]string{{"spec", "group"}, {"spec", "names", "plural"}}
	if condition(child(old.Object, "status"), "Established", "status") == "True" {
		fixed = append(fixed, []string{"spec", "scope"}, []string{"spec", "names", "kind"})
	}
	for _, path := range fixed {
		m.immutable(strings.Join(path, "."), o.Nested(path...), old.Nested(path...))
	}
	return m
}
