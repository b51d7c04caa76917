package resources

import (
	"strings"
	"time"

	"orrery/restclient/api"
)

const rbacGroup = "rbac.authorization.k8s.io"

var bindingCells = map[string]cell{
	"Role": part(reference, "roleRef"), "Users": bindingSubjects("User"), "Groups": bindingSubjects("Group"), "ServiceAccounts": bindingSubjects("ServiceAccount"),
}

func fillBinding(o tree) {
	for _, subject := range items(o, "subjects") {
		if kind := text(subject, "kind"); kind == "User" || kind == "Group" {
			fillText(subject, "apiGroup", rbacGroup)
		}
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
