package resources

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

const rbacGroup = "rbac.authorization.k8s.io"

var bindingCells = map[string]cell{
	"Role": part(reference, "roleRef"), "Users": bindingSubjects("User"), "Groups": bindingSubjects("Group"), "ServiceAccounts": bindingSubjects("ServiceAccount"),
}

// bindings returns a function that adds the traits of a binding to roles of the given kinds.
func bindings(roleKinds ...string) func(t *traits) {
	validate := validateBinding(roleKinds...)
	return func(t *traits) {
		t.fill, t.cells = fillBinding, bindingCells
		t.validate, t.validateUpdate = validate, validateBindingUpdate(validate)
	}
}

// validateRole validates the rules of a role.
func validateRole(namespaced bool) func(o *api.Unstructured) []apierrors.FieldError {
	return func(o *api.Unstructured) []apierrors.FieldError {
		var m errorList
		for i, rule := range items(o.Object, "rules") {
			m.rule(rule, at("rules", i), namespaced)
		}
		return m
	}
}

func (m *errorList) rule(rule tree, path string, namespaced bool) {
	if len(texts(rule, "verbs")) == 0 {
		m.required(path+".verbs", "verbs must contain at least one value")
	}
	if urls := texts(rule, "nonResourceURLs"); len(urls) > 0 {
		if namespaced {
			m.invalid(path+".nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
		}
		if len(texts(rule, "apiGroups"))+len(texts(rule, "resources"))+len(texts(rule, "resourceNames")) > 0 {
			m.invalid(path+".nonResourceURLs", urls, "rules cannot apply to both regular resources and non-resource URLs")
		}
		return
	}
	if len(texts(rule, "apiGroups")) == 0 {
		m.required(path+".apiGroups", "resource rules must supply at least one api group")
	}
	if len(texts(rule, "resources")) == 0 {
		m.required(path+".resources", "resource rules must supply at least one resource")
	}
}

func fillBinding(o tree) {
	for _, subject := range items(o, "subjects") {
		if kind := text(subject, "kind"); kind == "User" || kind == "Group" {
			fillText(subject, "apiGroup", rbacGroup)
		}
	}
}

func validateBinding(roleKinds ...string) func(o *api.Unstructured) []apierrors.FieldError {
	return func(o *api.Unstructured) []apierrors.FieldError {
		var m errorList
		ref := child(o.Object, "roleRef")
		if group := text(ref, "apiGroup"); group != rbacGroup {
			m.unsupported("roleRef.apiGroup", group, rbacGroup)
		}
		if kind := text(ref, "kind"); !slices.Contains(roleKinds, kind) {
			m.unsupported("roleRef.kind", kind, roleKinds...)
		}
		if name := text(ref, "name"); name == "" {
			m.required("roleRef.name", "")
		} else {
			m.names("roleRef.name", name, names.PathSegment(name, false))
		}
		for i, subject := range items(o.Object, "subjects") {
			m.subject(subject, at("subjects", i))
		}
		return m
	}
}

func (m *errorList) subject(subject tree, path string) {
	name := text(subject, "name")
	if name == "" {
		m.required(path+".name", "")
	}
	switch kind := text(subject, "kind"); kind {
	case "ServiceAccount":
		if name != "" {
			m.names(path+".name", name, names.Subdomain(name))
		}
		if group := text(subject, "apiGroup"); group != "" {
			m.unsupported(path+".apiGroup", group, "")
		}
		if text(subject, "namespace") == "" && len(names.Subdomain(name)) == 0 {
			m.required(path+".namespace", "")
		}
	case "User", "Group":
		if group := text(subject, "apiGroup"); group != rbacGroup {
			m.unsupported(path+".apiGroup", group, rbacGroup)
		}
	default:
		m.unsupported(path+".kind", kind, "ServiceAccount", "User", "Group")
	}
}

// shownRoleRef is a roleRef as messages show it.
type shownRoleRef struct{ APIGroup, Kind, Name string }

func validateBindingUpdate(validate func(*api.Unstructured) []apierrors.FieldError) func(o, old *api.Unstructured) []apierrors.FieldError {
	return func(o, old *api.Unstructured) []apierrors.FieldError {
		m := errorList(validate(o))
		ref := child(o.Object, "roleRef")
		if !same(ref, child(old.Object, "roleRef")) {
			m.invalid("roleRef", shownRoleRef{text(ref, "apiGroup"), text(ref, "kind"), text(ref, "name")}, "cannot change roleRef")
		}
		return m
	}
}

func bindingSubjects(kind string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		var found []string
		for _, subject := range items(o.Object, "subjects") {
			if text(subject, "kind") != kind {
				continue
			}
			name := text(subject, "name")
			if kind == "ServiceAccount" {
				name = text(subject, "namespace") + "/" + name
			}
			found = append(found, name)
		}
		return strings.Join(found, ", ")
	}
}
