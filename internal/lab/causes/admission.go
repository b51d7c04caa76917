package causes

import (
	"time"

	"orrery/internal/why"
)

const (
	webhookConfigurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	serviceless           = "webhook-unreachable:webhook=deny.policy.io,configuration=policy,unless-ready=policy/deny"
	unreachable           = "webhook-unreachable:webhook=deny.policy.io,verb=delete|deletecollection,resource=configmaps,while=validatingwebhookconfigurations/policy"
)

// webhook creates a webhook configuration that selects one operation on ConfigMaps, those of the
// machine room excepted. Its Service does not exist.
func (w *World) webhook(operation, failurePolicy string) {
	w.create(webhookConfigurations, `{"metadata":{"name":"policy"},"webhooks":[{"name":"deny.policy.io","failurePolicy":"`+failurePolicy+`",
		"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["`+MachineRoom+`"]}]},
		"sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"policy","name":"deny"}},
		"rules":[{"operations":["`+operation+`"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
}

func admissionFixtures() []Fixture {
	policy := why.Reference{Resource: "validatingwebhookconfigurations", Name: "policy"}
	return []Fixture{{
		ID: "C07", Culprit: policy,
		SetUp: func(w *World) {
			w.namespace()
			w.configMap("a", "")
			w.configMap("b", "")
			w.webhook("DELETE", "Fail")
			w.fault(serviceless)
			w.terminate()
		},
		NearMiss: func(w *World) { // the webhook that the text names asks about creations only
			w.namespace()
			w.configMap("a", "")
			w.webhook("CREATE", "Fail")
			w.fault(unreachable)
			w.terminate()
		},
	}, {
		ID: "C08", Culprit: why.Reference{Resource: "validatingadmissionpolicies", Name: "keep"},
		SetUp: func(w *World) {
			w.namespace()
			w.create(inNamespace+"/resourcequotas", `{"metadata":{"name":"a"}}`)
			w.policy()
			w.terminate()
		},
		NearMiss: func(w *World) { // it cannot be reached: C07
			w.namespace()
			w.configMap("a", "")
			w.webhook("DELETE", "Fail")
			w.fault(unreachable)
			w.terminate()
		},
	}, {
		ID: "C09", Culprit: why.Reference{Resource: "customresourcedefinitions", Name: velero.typeName()},
		SetUp: func(w *World) {
			w.converted()
			w.terminate()
		},
		NearMiss: func(w *World) { // the converter is back, an object is kept by its finalizer
			w.converted(velero.finalizer)
			w.terminate()
			w.sleep(Settled)
			w.endpoint("velero", "converter")
		}, NearMissSettle: time.Second,
	}}
}

const (
	policies       = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	policyBindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
)

// policy creates a policy that protects ResourceQuotas until they are annotated, and its binding.
func (w *World) policy() {
	w.create(policies, `{"metadata":{"name":"keep"},"spec":{"failurePolicy":"Fail",
		"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["resourcequotas"]}]},
		"matchConditions":[{"name":"shop","expression":"request.namespace == '`+Namespace+`'"}],
		"validations":[{"expression":"has(oldObject.metadata.annotations) && 'example.com/archived' in oldObject.metadata.annotations",
			"message":"annotate it with example.com/archived first"}]}}`)
	w.create(policyBindings, `{"metadata":{"name":"keep-all"},"spec":{"policyName":"keep","validationActions":["Deny"]}}`)
	w.fault("policy-denies:policy=keep,binding=keep-all,configuration=keep-all,verb=delete,resource=resourcequotas," +
		"namespace=" + Namespace + `,unless-annotated=example.com/archived,` +
		`message="annotate it with example.com/archived first"`)
}

// converted creates an object whose conversion webhook has no endpoint.
func (w *World) converted(finalizers ...string) {
	w.operated(velero)
	w.running(velero)
	w.create(velero.objects(), velero.body("orders", finalizers...))
	w.patch(velero.definition(), `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
		"clientConfig":{"service":{"namespace":"velero","name":"converter"}}}}}}`)
	w.fault("conversion-fails:group=velero.io,from=v1beta1,service=velero/converter,unless-ready=velero/converter")
}
