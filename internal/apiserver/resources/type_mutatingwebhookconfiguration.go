package resources

// mutatingWebhookConfigurations is the resource mutatingwebhookconfigurations of admissionregistration.k8s.io.
func mutatingWebhookConfigurations() *Definition {
	return &Definition{
		Group:  "admissionregistration.k8s.io",
		Plural: "mutatingwebhookconfigurations", Singular: "mutatingwebhookconfiguration", Kind: "MutatingWebhookConfiguration",
		Categories: []string{"api-extensions"},
	}
}
