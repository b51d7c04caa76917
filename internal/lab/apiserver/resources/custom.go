package resources

import (
	"fmt"
	"slices"
	"strings"

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
	var paths [][]string
	for _, field := range items(version, "selectableFields") {
		if path := simpleSteps(text(field, "jsonPath")); path != nil {
			paths = append(paths, path)
		}
	}
	d.selectPaths(paths, false)
}

// selectPaths makes fields selectable, each by its path without a dot before it. A field that is absent has the empty value
// if it is there in general.
func (d *Definition) selectPaths(paths [][]string, always bool) {
	if len(paths) == 0 {
		return
	}
	for _, path := range paths {
		d.Selectable = append(d.Selectable, strings.Join(path, "."))
	}
	d.Fields = func(o *api.Unstructured) map[string]string {
		fields := make(map[string]string, len(paths))
		for i, path := range paths {
			if value := o.Nested(path...); value != nil {
				fields[d.Selectable[i]] = fmt.Sprint(value)
			} else if always {
				fields[d.Selectable[i]] = ""
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
		s.PrepareCreate = func(o *api.Unstructured) { dropStatus(o); firstGeneration(o) }
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
