package causes

import "orrery/internal/why"

const (
	webhookConfigurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	unreachable           = "webhook-unreachable:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps"
	denies                = `webhook-denies:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps,message="not today"`
)

// webhook creates a webhook configuration that selects one operation on ConfigMaps. Its Service does not exist.
func (w *World) webhook(operation, failurePolicy string) {
	w.create(webhookConfigurations, `{"metadata":{"name":"policy"},"webhooks":[{"name":"deny.policy.io","failurePolicy":"`+failurePolicy+`",
		"sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"policy","name":"deny"}},
		"rules":[{"operations":["`+operation+`"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
}

func admissionFixtures() []Fixture {
	policy := why.Reference{Resource: "validatingwebhookconfigurations", Name: "policy"}
	return []Fixture{{
		ID: "C07", Culprit: policy,
		SetUp: func(w *World) {
			w.namespace("")
			w.configMap("a", "")
			w.configMap("b", "")
			w.webhook("DELETE", "Fail")
			w.fault(unreachable)
			w.terminate()
		},
		NearMiss: func(w *World) { // the webhook that the text names asks about creations only
			w.namespace("")
			w.configMap("a", "")
			w.webhook("CREATE", "Fail")
			w.fault(unreachable)
			w.terminate()
		},
	}, {
		ID: "C08", Culprit: policy,
		SetUp: func(w *World) {
			w.namespace("")
			w.configMap("a", "")
			w.webhook("DELETE", "Fail")
			w.fault(denies)
			w.terminate()
		},
		NearMiss: func(w *World) { // it cannot be reached: C07
			w.namespace("")
			w.configMap("a", "")
			w.webhook("DELETE", "Fail")
			w.fault(unreachable)
			w.terminate()
		},
	}}
}
