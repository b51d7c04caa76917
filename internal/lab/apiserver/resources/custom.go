package resources

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// customDefinitions makes the definitions of a custom resource, one for each served version, in the order of
// preference.
func customDefinitions(crd *api.Unstructured) ([]*Definition, error) {
	spec := child(crd.Object, "spec")
	byName := map[string]tree{}
	var served []string
	for _, version := range items(spec, "versions") {
		if name := text(version, "name"); truth(version, "served") && byName[name] == nil {
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

// StoredAs returns the definition of a custom resource at the version in which its objects are stored, whether that is
// served or not: what has to be known to delete them.
func StoredAs(crd *api.Unstructured) (*Definition, error) {
	spec := child(crd.Object, "spec")
	for _, version := range items(spec, "versions") {
		if truth(version, "storage") {
			return customDefinition(spec, text(version, "name"), version)
		}
	}
	return nil, fmt.Errorf("%s has no version for its objects to be stored in", crd.GetName())
}

// CustomPrefix returns where the store keeps the objects of the custom resource that a CustomResourceDefinition of this
// name ("crontabs.stable.example.com") defines.
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
		Status:     child(subresources, "status") != nil,
	}
	if d.Group == "" || d.Plural == "" || d.Kind == "" {
		return nil, fmt.Errorf("group, plural and kind are needed")
	}
	d.Prefix = CustomPrefix(d.Qualified())
	if d.Singular == "" {
		d.Singular = strings.ToLower(d.Kind)
	}
	if d.ListKind == "" {
		d.ListKind = d.Kind + "List"
	}
	if paths := child(subresources, "scale"); paths != nil {
		d.Scale = true
		d.scale = &scalePaths{
			replicas: simpleSteps(text(paths, "specReplicasPath")),
			status:   simpleSteps(text(paths, "statusReplicasPath")),
			selector: simpleSteps(text(paths, "labelSelectorPath")),
		}
	}
	d.Schema = child(child(version, "schema"), "openAPIV3Schema")
	d.Type = schema.Custom(d.Schema)
	var err error
	if d.Columns, err = customColumns(version); err != nil {
		return nil, err
	}
	d.selectable(version)
	d.Strategy = customStrategy(d.Status)
	return d, nil
}

// simpleSteps cuts a path of names, ".spec.replicas".
func simpleSteps(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}

// selectable takes over the fields by which clients may select.
func (d *Definition) selectable(version tree) {
	var paths []string
	for _, field := range items(version, "selectableFields") {
		if path := strings.TrimPrefix(text(field, "jsonPath"), "."); path != "" {
			paths = append(paths, path)
		}
	}
	d.selectPaths(paths, false)
}

// selectPaths makes fields selectable, each by its path without a dot before it. A field that is absent has the empty value
// if it is there in general.
func (d *Definition) selectPaths(paths []string, always bool) {
	if len(paths) == 0 {
		return
	}
	d.Selectable = paths
	d.Fields = func(o *api.Unstructured) map[string]string {
		fields := make(map[string]string, len(paths))
		for _, path := range paths {
			if value := o.Nested(strings.Split(path, ".")...); value != nil {
				fields[path] = fmt.Sprint(value)
			} else if always {
				fields[path] = ""
			}
		}
		return fields
	}
}

// customStrategy is that of all custom resources. No value is checked against the schema, and no default taken from it.
func customStrategy(status bool) Strategy {
	s := Strategy{
		PrepareCreate: firstGeneration,
		PrepareUpdate: func(o, old *api.Unstructured) { nextGeneration(o, old, contentChanged(o, old, false)) },
	}
	if status {
		s.PrepareCreate = func(o *api.Unstructured) { delete(o.Object, "status"); firstGeneration(o) }
		s.PrepareUpdate = func(o, old *api.Unstructured) {
			keepStatus(o, old)
			nextGeneration(o, old, contentChanged(o, old, true))
		}
		s.PrepareStatus = statusKeepsMetadata("labels", "annotations", "finalizers", "ownerReferences", "generation")
	}
	return s
}

// contentChanged compares everything but the head of two objects, and the status if it has a subresource.
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

// customColumns are the name and what the definition adds; the age if it adds nothing.
func customColumns(version tree) ([]Column, error) {
	columns := []Column{nameColumn()}
	added := items(version, "additionalPrinterColumns")
	if len(added) == 0 {
		added = []tree{{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "description": "How long ago the object was created."}}
	}
	for _, column := range added {
		path, err := parseJSONPath(text(column, "jsonPath"))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", text(column, "name"), err)
		}
		kind := text(column, "type")
		columns = append(columns, Column{
			Name: text(column, "name"), Type: kind, Format: text(column, "format"),
			Description: cmp.Or(text(column, "description"), "The value at "+text(column, "jsonPath")+"."), Priority: int32(whole(column, "priority")),
			Cell: func(o *api.Unstructured, now time.Time) any { return customCell(kind, path.find(o.Object), now) },
		})
	}
	return columns, nil
}

// customCell makes the cell of the first of the values that a path has found: nil for none, and for one that is not of the
// column's type.
func customCell(kind string, found []any, now time.Time) any {
	if len(found) == 0 {
		return nil
	}
	if kind == "string" {
		return printed(found[0])
	}
	return typedCell(kind, found[0], now)
}

func typedCell(kind string, value any, now time.Time) any {
	switch v := value.(type) {
	case int64:
		switch kind {
		case "integer":
			return v
		case "number":
			return float64(v)
		}
	case float64:
		switch kind {
		case "integer":
			return int64(v)
		case "number":
			return v
		}
	case bool:
		if kind == "boolean" {
			return v
		}
	case string:
		if kind == "date" {
			return dateCell(v, now)
		}
	}
	return nil
}

func dateCell(moment string, now time.Time) any {
	if moment == "" {
		return unknownText
	}
	t, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		return "<invalid>"
	}
	return humanDuration(now.Sub(t))
}

// printed writes a value as text: plain values as they are, others as JSON.
func printed(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		data, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(data)
	}
	return fmt.Sprint(value)
}
