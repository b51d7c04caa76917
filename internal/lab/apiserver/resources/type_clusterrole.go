package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// clusterRoles are sets of permissions.
func clusterRoles() *Definition {
	validate := func(o *api.Unstructured) []apierrors.FieldError {
		var m mistakes
		m.rules(o, false)
		return m
	}
	return &Definition{
		Group:   rbacGroup,
		Plural:  "clusterroles",
		Columns: []Column{nameColumn(), createdColumn()},
		Strategy: Strategy{
			UpdateMeta:               CheckAllThenStep,
			Default:                  rulesAreThere,
			Validate:                 validate,
			ValidateName:             names.PathSegment,
			AllowCreateOnUpdate:      true,
			AllowUnconditionalUpdate: true,
		},
	}
}
