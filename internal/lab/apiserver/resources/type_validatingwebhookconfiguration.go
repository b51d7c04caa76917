package resources

// validatingWebhookConfigurations name the webhooks that may refuse what is written. Nobody calls them here.
func validatingWebhookConfigurations() *Definition {
	return webhookConfigurations(&Definition{
		Plural: "validatingwebhookconfigurations",
	}, "")
}
