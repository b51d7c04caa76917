package resources

import "orrery/internal/lab/apiserver/names"

// roleBindings give roles to users, in a namespace.
func roleBindings() *Definition {
	validate := validateBinding("Role", "ClusterRole")
	return &Definition{
		Group:   rbacGroup,
		Plural:  "rolebindings",
		Columns: bindingColumns(),
		Strategy: Strategy{
			UpdateMeta:               CheckAllThenStep,
			Default:                  defaultBinding,
			Validate:                 validate,
			ValidateUpdate:           validateBindingUpdate(validate),
			ValidateName:             names.PathSegment,
			AllowCreateOnUpdate:      true,
			AllowUnconditionalUpdate: true,
		},
	}
}
