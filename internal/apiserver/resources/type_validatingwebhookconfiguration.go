package resources

// validatingWebhookConfigurations is the resource validatingwebhookconfigurations of admissionregistration.k8s.io.
func validatingWebhookConfigurations() *Definition {
	return &Definition{
		Group:  "admissionregistration.k8s.io",
		Plural: "validatingwebhookconfigurations", Singular: "validatingwebhookconfiguration", Kind: "ValidatingWebhookConfiguration",
		Categories: []string{"api-extensions"},
	}
}
