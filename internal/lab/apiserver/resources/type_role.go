package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// roles are sets of permissions in a namespace.
func roles() *Definition {
	validate := func(o *api.Unstructured) []apierrors.FieldError {
		var m mistakes
		m.rules(o, true)
		return m
	}
	return &Definition{
		Group:   rbacGroup,
		Plural:  "roles",
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
