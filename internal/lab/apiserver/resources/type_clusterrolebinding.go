package resources

import "orrery/internal/lab/apiserver/names"

// clusterRoleBindings give roles to users.
func clusterRoleBindings() *Definition {
	validate := validateBinding("ClusterRole")
	return &Definition{
		Group:   rbacGroup,
		Plural:  "clusterrolebindings",
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
