package resources

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/internal/lab/apiserver/structural"
	"orrery/restclient/api"
)

func fillCRD(o tree) {
	names := ensure(ensure(o, "spec"), "names")
	if kind := text(names, "kind"); kind != "" {
		fillText(names, "singular", strings.ToLower(kind))
		fillText(names, "listKind", kind+"List")
	}
}

// newCRDStatus returns the status of a definition before its names are checked.
func newCRDStatus(tree) tree { return tree{"acceptedNames": tree{"kind": "", "plural": ""}} }

// rememberVersions records in the status the versions in which objects may be stored.
func rememberVersions(o *api.Unstructured) {
	status := ensure(o.Object, "status")
	stored, _ := status["storedVersions"].([]any)
	status["storedVersions"] = storageVersions(o, stored)
}

// storageVersions adds the storage version (the first if there are several) to the stored versions.
func storageVersions(o *api.Unstructured, stored []any) any {
	versions := items(child(o.Object, "spec"), "versions")
	i := slices.IndexFunc(versions, func(version tree) bool { return boolean(version, "storage") })
	switch {
	case i >= 0 && !slices.Contains(stored, any(text(versions[i], "name"))):
		return append(slices.Clone(stored), text(versions[i], "name"))
	case stored == nil:
		return nil
	}
	return stored
}

// ignoredRules is the warning for a definition with rules.
const ignoredRules = "this server ignores the rules in x-kubernetes-validations"

// ignoredParts warns of unsupported formats and of rules.
func ignoredParts(o *api.Unstructured) []string {
	var warnings []string
	for _, version := range items(child(o.Object, "spec"), "versions") {
		written := child(child(version, "schema"), "openAPIV3Schema")
		for _, format := range structural.UnknownFormats(written) {
			warnings = append(warnings, fmt.Sprintf("unrecognized format %q", format))
		}
		if structural.HasRules(written) {
			warnings = append(warnings, ignoredRules)
		}
	}
	return warnings
}

func validateCRD(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	group, crdNames := text(spec, "group"), child(spec, "names")
	if o.GetName() != text(crdNames, "plural")+"."+group {
		m.invalid("metadata.name", o.GetName(), `must be spec.names.plural+"."+spec.group`)
	}
	m.group(o, group)
	m.oneOf(spec, "scope", "spec.scope", true, "Cluster", "Namespaced")
	m.versions(spec)
	m.conversion(spec)
	m.crdNames(crdNames)
	versions := items(spec, "versions")
	for i, version := range versions {
		path := "spec"
		if len(versions) > 1 {
			path = at("spec.versions", i)
		}
		m.versionExtras(version, path)
	}
	if boolean(spec, "preserveUnknownFields") {
		m.invalid("spec.preserveUnknownFields", true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
	}
	m.storedVersions(o, versions)
	return m
}

func (m *errorList) group(o *api.Unstructured, group string) {
	switch {
	case group == "":
		m.required("spec.group", "")
	case len(names.Subdomain(group)) > 0:
		m.names("spec.group", group, names.Subdomain(group))
	case !strings.Contains(group, "."):
		m.invalid("spec.group", group, "should be a domain with at least one dot")
	}
	const approval = "api-approved.kubernetes.io"
	if protected := strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, ".kubernetes.io"); protected && o.GetAnnotations()[approval] == "" {
		m.required(under("metadata.annotations", approval), `protected groups must have approval annotation "`+approval+`", see https://github.com/kubernetes/enhancements/pull/1111`)
	}
}

func (m *errorList) versions(spec tree) {
	versions := items(spec, "versions")
	storage, unique, seen := 0, true, map[string]bool{}
	for i, version := range versions {
		if child(child(version, "schema"), "openAPIV3Schema") == nil {
			m.required(at("spec.versions", i)+".schema.openAPIV3Schema", "")
		}
	}
	for i, version := range versions {
		name := text(version, "name")
		m.names(at("spec.versions", i)+".name", name, names.ServiceLabel(name))
		unique = unique && !seen[name]
		seen[name] = true
		if boolean(version, "storage") {
			storage++
		}
	}
	if !unique {
		m.invalid("spec.versions", spec["versions"], "must contain unique version names")
	}
	if storage != 1 {
		m.invalid("spec.versions", spec["versions"], "must have exactly one version marked as storage version")
	}
	if len(versions) > 0 {
		name := text(versions[0], "name")
		m.names("spec.version", name, names.ServiceLabel(name))
	}
}

// conversion validates the conversion strategy. Only None has an effect: versions then differ in
// apiVersion only.
func (m *errorList) conversion(spec tree) {
	conversion := child(spec, "conversion")
	switch strategy := text(conversion, "strategy"); strategy {
	case "", "None":
	case "Webhook":
		if boolean(spec, "preserveUnknownFields") {
			m.invalid("spec.conversion.strategy", strategy, "must be None if spec.preserveUnknownFields is true")
		}
		webhook := child(conversion, "webhook")
		if child(webhook, "clientConfig") == nil {
			m.required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")
		}
		if len(texts(webhook, "conversionReviewVersions")) == 0 {
			m.required("spec.conversion.conversionReviewVersions", "")
		}
	default:
		m.unsupported("spec.conversion.strategy", strategy, "None", "Webhook")
	}
}

func (m *errorList) crdNames(t tree) {
	const mixed = "may have mixed case, but should otherwise match: "
	for _, key := range []string{"plural", "singular", "kind", "listKind"} {
		name, path := text(t, key), "spec.names."+key
		if name == "" {
			m.required(path, "")
			continue
		}
		if key == "plural" || key == "singular" {
			m.names(path, name, names.ServiceLabel(name))
			continue
		}
		for _, sentence := range names.ServiceLabel(strings.ToLower(name)) {
			m.invalid(path, name, mixed+sentence)
		}
	}
	for _, key := range []string{"shortNames", "categories"} {
		for i, name := range texts(t, key) {
			m.names(at("spec.names."+key, i), name, names.ServiceLabel(name))
		}
	}
	if kind := text(t, "kind"); kind != "" && kind == text(t, "listKind") {
		m.invalid("spec.names.listKind", kind, "kind and listKind may not be the same")
	}
}

const simplePath = "must be a simple json path starting with ."

func (m *errorList) versionExtras(version tree, path string) {
	if scale := child(child(version, "subresources"), "scale"); scale != nil {
		m.scalePath(scale, "specReplicasPath", ".spec.", path+".subresources.scale", true)
		m.scalePath(scale, "statusReplicasPath", ".status.", path+".subresources.scale", true)
		m.scalePath(scale, "labelSelectorPath", "", path+".subresources.scale", false)
	}
	types := []string{"boolean", "date", "integer", "number", "string"}
	for i, column := range items(version, "additionalPrinterColumns") {
		path := at(path+".additionalPrinterColumns", i)
		if text(column, "name") == "" {
			m.required(path+".name", "")
		}
		switch kind := text(column, "type"); {
		case kind == "":
			m.required(path+".type", "must be one of "+strings.Join(types, ","))
		case !slices.Contains(types, kind):
			m.invalid(path+".type", kind, "must be one of "+strings.Join(types, ","))
		}
		m.jsonPath(text(column, "jsonPath"), path+".JSONPath")
	}
	m.selectableFields(version, path)
}

// selectableFields checks that selectable fields exist and are strings, booleans or integers.
func (m *errorList) selectableFields(version tree, path string) {
	fields := items(version, "selectableFields")
	if len(fields) == 0 {
		return
	}
	schema := structural.New(child(child(version, "schema"), "openAPIV3Schema"))
	seen := map[string]bool{}
	for i, selectable := range fields {
		path, place := text(selectable, "jsonPath"), at(path+".selectableFields", i)+".jsonPath"
		switch field := schema.Find(simpleSteps(path)); {
		case path == "":
			m.required(place, "")
		case field == nil:
			m.invalid(place, path, "is an invalid path: does not refer to a valid field")
		case !slices.Contains([]string{"string", "boolean", "integer"}, field.Type):
			m.invalid(place, path, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.")
		case seen[path]:
			m.duplicate(place, path)
		}
		seen[path] = true
	}
}

func (m *errorList) jsonPath(expression, path string) {
	if expression == "" {
		m.required(path, "")
		return
	}
	if !strings.HasPrefix(expression, ".") {
		m.invalid(path, expression, simplePath)
		return
	}
	if _, err := parseJSONPath(expression); err != nil {
		m.invalid(path, expression, "is not a valid json path: "+err.Error())
	}
}

func (m *errorList) scalePath(scale tree, key, under, path string, required bool) {
	value := text(scale, key)
	path += "." + key
	switch {
	case value == "" && required:
		m.required(path, "")
	case value == "":
	case !strings.HasPrefix(value, ".") || strings.ContainsAny(value, "[]{}"):
		m.invalid(path, value, simplePath)
	case !strings.HasPrefix(value, under):
		m.invalid(path, value, "should be a json path under "+strings.TrimSuffix(under, "."))
	}
}

func (m *errorList) storedVersions(o *api.Unstructured, versions []tree) {
	stored := o.NestedStringSlice("status", "storedVersions")
	if len(stored) == 0 {
		m.invalid("status.storedVersions", o.Nested("status", "storedVersions"), "must have at least one stored version")
		return
	}
	for i, name := range stored {
		if !slices.ContainsFunc(versions, func(v tree) bool { return text(v, "name") == name }) {
			m.invalid(at("status.storedVersions", i), name, "must appear in spec.versions")
		}
	}
	for _, version := range versions {
		if name := text(version, "name"); boolean(version, "storage") && !slices.Contains(stored, name) {
			m.invalid("status.storedVersions", stored, "must have the storage version "+name)
		}
	}
}

// validateCRDUpdate keeps the group, the plural name and, once objects may exist, the scope and the
// kind.
func validateCRDUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := errorList(validateCRD(o))
	for _, path := range [][]string{{"group"}, {"names", "plural"}, {"scope"}, {"names", "kind"}} {
		full := append([]string{"spec"}, path...)
		established := condition(child(old.Object, "status"), "Established", "status") == "True"
		if established || path[0] == "group" || len(path) == 2 && path[1] == "plural" {
			m.immutable(strings.Join(full, "."), o.Nested(full...), old.Nested(full...))
		}
	}
	return m
}
