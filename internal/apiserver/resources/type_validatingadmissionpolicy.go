package resources

// validatingAdmissionPolicies is the resource validatingadmissionpolicies of admissionregistration.k8s.io.
func validatingAdmissionPolicies() *Definition {
	return &Definition{
		Group:  "admissionregistration.k8s.io",
		Plural: "validatingadmissionpolicies", Singular: "validatingadmissionpolicy", Kind: "ValidatingAdmissionPolicy",
		Categories: []string{"api-extensions"}, Status: true,
	}
}
