package resources

// validatingAdmissionPolicyBindings is the resource validatingadmissionpolicybindings of admissionregistration.k8s.io.
func validatingAdmissionPolicyBindings() *Definition {
	return &Definition{
		Group:  "admissionregistration.k8s.io",
		Plural: "validatingadmissionpolicybindings", Singular: "validatingadmissionpolicybinding", Kind: "ValidatingAdmissionPolicyBinding",
		Categories: []string{"api-extensions"},
	}
}
