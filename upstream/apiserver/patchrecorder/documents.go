package main

// documents are the request bodies to record: valid ones, and others that are invalid in many ways.
var documents = []struct {
	path, apiVersion, kind string
	documents              []string
}{
	{"/api/v1/namespaces/NAMESPACE/pods", "v1", "Pod", []string{
		`{}`, `{"spec":{"activeDeadlineSeconds":"x"}}`, `{"spec":[]}`, `{"spec":{"containers":{}}}`, `{"spec":{"containers":[1]}}`,
		`{"spec":{"containers":[{"name":5}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":true}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":"abc"}}}]}}`, `{"metadata":{"creationTimestamp":5}}`,
		`{"metadata":{"creationTimestamp":"yesterday"}}`, `{"metadata":{"creationTimestamp":null}}`, `{"metadata":{"labels":{"a":1}}}`, `{"metadata":{"labels":[]}}`,
		`{"metadata":{"generation":1.5}}`, `{"metadata":{"generation":99999999999999999999}}`, `{"spec":{"containers":[{"ports":[{"containerPort":"80"}]}]}}`,
		`{"spec":{"containers":[{"ports":[{"containerPort":99999999999}]}]}}`, `{"spec":{"hostNetwork":"true"}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":1.5}}}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":"http"}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":null}}}]}}`,
		`{"spec":{"securityContext":"x"}}`, `{"spec":{"containers":[{"env":[{"name":"a","value":1}]}]}}`,
		`{"spec":{"containers":[{"bar":2,"name":"a"}],"foo":1},"zed":1}`, `{"metadata":{"ownerReferences":[{"controller":"yes"}]}}`,
		`{"spec":null}`, `{"spec":{"containers":[null]}}`, `{"metadata":"x"}`, `{"metadata":{"managedFields":[{"fieldsV1":5}]}}`, `{"spec":{"nodeSelector":{"a":{}}}}`,
		`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":{}}}]}}`, `{"spec":{"volumes":[{"emptyDir":[]}]}}`, `{"spec":{"overhead":{"a":"1x"}}}`, `{"metadata":{"Name":"x"}}`,
		`{"spec":{"containers":"x"}}`, `{"spec":{"activeDeadlineSeconds":"x","containers":[{"image":5,"name":6}]}}`,
		`{"spec":{"activeDeadlineSeconds":"x","foo":1}}`, `{"spec":{"containers":[{"name":"a","zip":1},{"name":"b","zap":1,"zip":2}],"foo":{"x":{"y":1}}}}`,
		`{"spec":{"containers":[{"args":[1]}]}}`, `{"spec":{"containers":[{"args":"x"}]}}`, `{"spec":{"restartPolicy":{}}}`, `{"spec":{"restartPolicy":"Sometimes"}}`,
		`{"metadata":{"creationTimestamp":{}}}`, `{"status":{"conditions":5}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":1.5}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":""}}}]}}`, `{"spec":{"containers":[{"resources":{"limits":5}}]}}`,
		`{"spec":{"containers":[{"volumeMounts":[{"mountPath":true}]}]}}`, `{"spec":{"volumes":[{"projected":{"sources":[{"secret":{"items":[{"mode":"x"}]}}]}}]}}`,
		`{"spec":{"containers":[{"securityContext":{"capabilities":{"add":[1]}}}]}}`, `{"spec":{"tolerations":[{"tolerationSeconds":"1"}]}}`,
	}},
	{"/api/v1/namespaces/NAMESPACE/secrets", "v1", "Secret", []string{
		`{"data":{"x":"!!"}}`, `{"data":{"x":5}}`, `{"data":{"x":[65,66]}}`, `{"data":{"x":[65,"66"]}}`, `{"data":{"x":[65,256]}}`, `{"data":{"x":{}}}`, `{"data":{"x":"YQ"}}`,
		`{"data":{"x":"Y\nQ=="}}`, `{"data":{"x":null}}`, `{"stringData":{"x":1}}`, `{"type":5}`,
	}},
	{"/api/v1/namespaces/NAMESPACE/resourcequotas", "v1", "ResourceQuota", quotas("1kk", "1.1.1", "1e", "--1", "1ki", "1Ki", "1E5", "1e-5", ".", "1.e", "12E", "0x1",
		" 1", "+1", "1i", "1Eii", "1e99999999999999999999", "5n", "5u", ".5", "5.", "Mi", "1eM", "1ee5", "1e+5", "-", "", "one")},
	{"/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases", "coordination.k8s.io/v1", "Lease", []string{
		`{"spec":{"acquireTime":"x"}}`, `{"spec":{"acquireTime":5}}`, `{"spec":{"acquireTime":""}}`, `{"spec":{"acquireTime":"2026-01-01T00:00:00Z"}}`,
		`{"spec":{"acquireTime":"2026-01-01T00:00:00.000000Z"}}`, `{"spec":{"leaseTransitions":3000000000}}`,
	}},
	{"/apis/apps/v1/namespaces/NAMESPACE/deployments", "apps/v1", "Deployment", []string{
		`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}`, `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":1}}}}`, `{"spec":{"replicas":"x"}}`, `{"spec":{"replica":1}}`,
		`{"spec":{"paused":1}}`, `{"spec":{"selector":{"matchLabels":5}}}`,
	}},
	{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition", []string{
		definition(`{"type":"object","foo":1}`), definition(`{"type":"object","properties":{"a":{"type":"string","foo":1}}}`), definition(`{"type":"object","properties":{"a":{"type":5}}}`),
		definition(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`), definition(`{"type":"object","properties":{"a":{"type":"number","maximum":"x"}}}`),
		definition(`{"type":"object","properties":[]}`), definition(`{"type":"object","enum":5}`), definition(`{"type":"object","default":{"any":["thing"]}}`),
	}},
	{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "authorization.k8s.io/v1", "SelfSubjectAccessReview", []string{`{"spec":{"resourceAttributes":[]}}`, `{"spec":{"resource":1}}`}},
	{"/apis/authorization.k8s.io/v1/subjectaccessreviews", "authorization.k8s.io/v1", "SubjectAccessReview", []string{`{"spec":{"extra":{"a":5}}}`, `{"spec":{"extra":{"a":[5]}}}`}},
	{"/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/roles", "rbac.authorization.k8s.io/v1", "Role", []string{`{"rules":[{"verbs":"x"}]}`, `{"rules":{}}`, `{"rule":[]}`}},
	{"/api/v1/namespaces/NAMESPACE/events", "v1", "Event", []string{`{"count":"x"}`, `{"involvedObject":5}`, `{"eventTime":"x"}`, `{"series":{"count":1.5}}`}},
}

func quotas(amounts ...string) []string {
	var out []string
	for _, amount := range amounts {
		out = append(out, `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"`+amount+`"}}}`)
	}
	return out
}

func definition(schema string) string {
	return `{"metadata":{"name":"foos.recorder.example.com"},"spec":{"group":"recorder.example.com","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},` +
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
}
