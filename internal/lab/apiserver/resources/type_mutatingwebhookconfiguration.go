package resources

// mutatingWebhookConfigurations name the webhooks that may change what is written. Nobody calls them here.
func mutatingWebhookConfigurations() *Definition {
	return webhookConfigurations(&Definition{
		Plural: "mutatingwebhookconfigurations",
	}, "Never")
}
