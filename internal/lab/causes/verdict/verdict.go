package verdict

// First is the verdict on the namespace that `lab break first` sets up. Two things keep it: the
// first keeps the pods, and the second will keep what the controller touches only after them. Both
// owners are there and can be repaired, so nothing has to be released by force. What no client of
// the API can repair is a ConfigMap in the namespace machine-room, and deleting it repairs it.
func First() Verdict {
	return Verdict{
		Causes: []string{"C11", "C06"},
		Proof: []string{
			"/api/v1/namespaces/shop/pods/lost",
			"/api/v1/nodes/orrery-node-1",
			"/apis/external-secrets.io/v1alpha1/namespaces/shop/pushsecrets/orders",
			"/apis/apps/v1/namespaces/external-secrets/deployments/external-secrets",
		},
		Remedy: []Request{
			{Method: "DELETE", Path: "/api/v1/namespaces/machine-room/configmaps/node-has-no-power"},
			{Method: "DELETE", Path: "/api/v1/namespaces/machine-room/configmaps/role-is-missing"},
		},
	}
}

// Second is the verdict on the namespace that `lab break second` sets up. Two things keep it: one
// keeps the ConfigMaps, and must go on protecting those of other namespaces. The other one keeps a
// Service, whose owner will not come back: what it should have cleaned up outside is in the
// namespace machine-room, and has to be cleaned up before the Service is released.
func Second() Verdict {
	return Verdict{
		Causes: []string{"C07", "C15"},
		Proof: []string{
			"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/policy",
			"/api/v1/namespaces/policy/services/deny",
			"/api/v1/namespaces/shop/services/web",
		},
		Remedy: []Request{
			{
				Method: "PATCH", Path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/policy",
				Body: `[{"op":"add","path":"/webhooks/0/namespaceSelector/matchExpressions/0/values/-","value":"shop"}]`,
			},
			{Method: "DELETE", Path: "/api/v1/namespaces/machine-room/configmaps/balancer-of-web"},
			{Method: "PATCH", Path: "/api/v1/namespaces/shop/services/web", Body: `{"metadata":{"finalizers":null}}`},
		},
	}
}
