package resources

import (
	"fmt"
	"slices"
	"strings"

	"orrery/restclient/api"
)

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
