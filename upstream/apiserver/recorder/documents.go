package main

import "k8s.io/apimachinery/pkg/types"

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
		customType(`{"type":"object","foo":1}`), customType(`{"type":"object","properties":{"a":{"type":"string","foo":1}}}`), customType(`{"type":"object","properties":{"a":{"type":5}}}`),
		customType(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`), customType(`{"type":"object","properties":{"a":{"type":"number","maximum":"x"}}}`),
		customType(`{"type":"object","properties":[]}`), customType(`{"type":"object","enum":5}`), customType(`{"type":"object","default":{"any":["thing"]}}`),
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

func customType(schema string) string {
	return `{"metadata":{"name":"foos.recorder.example.com"},"spec":{"group":"recorder.example.com","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},` +
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
}

type change struct {
	kind  types.PatchType
	patch string
}

const (
	asJSON      = types.JSONPatchType
	asMerge     = types.MergePatchType
	asStrategic = types.StrategicMergePatchType
)

// container is complete, so that the server adds no defaults.
func container(name, more string) string {
	return `{"name":"` + name + `","image":"i","imagePullPolicy":"Always","resources":{},"terminationMessagePath":"/t","terminationMessagePolicy":"File"` + more + `}`
}

func inContainers(patch string) string { return `{"spec":{"template":{"spec":` + patch + `}}}` }

// subjects are objects with patches.
var subjects = []struct {
	path, object string
	changes      []change
}{
	{"/api/v1/namespaces/NAMESPACE/configmaps", `{"metadata":{"name":"c","labels":{"l":"1","m":"2"},"finalizers":["a.b/c","d.e/f"]},"data":{"a":"1","b":"2"}}`, []change{
		{asMerge, `{}`}, {asMerge, `{"data":{"a":null,"c":"3"}}`}, {asMerge, `{"data":null}`}, {asMerge, `{"metadata":{"labels":{"l":null}}}`}, {asMerge, `{"metadata":{"finalizers":["a.b/c"]}}`},
		{asMerge, ``}, {asMerge, `x`}, {asMerge, `[]`}, {asMerge, `null`}, {asMerge, `5`}, {asMerge, `{`}, {asMerge, `{}x`}, {asMerge, `{"data":[]}`}, {asMerge, `{"data":{"x":5}}`}, {asMerge, `{"metadata":5}`},
		{asStrategic, `{}`}, {asStrategic, `null`}, {asStrategic, `{"data":{"a":null,"c":"3"}}`}, {asStrategic, `{"data":{"$patch":"replace","z":"1"}}`}, {asStrategic, `{"data":{"$patch":"delete"}}`},
		{asStrategic, `{"metadata":{"finalizers":["g.h/i"]}}`}, {asStrategic, `{"metadata":{"finalizers":["a.b/c"]}}`}, {asStrategic, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a.b/c"]}}`},
		{asStrategic, `{"metadata":{"$setElementOrder/finalizers":["d.e/f","a.b/c"]}}`}, {asStrategic, `{"metadata":{"finalizers":null}}`}, {asStrategic, `{"metadata":{"$retainKeys":["name","namespace","uid","resourceVersion","creationTimestamp"]}}`},
		{asStrategic, ``}, {asStrategic, `x`}, {asStrategic, `[]`}, {asStrategic, `5`},
		{asStrategic, `{"$patch":"merge"}`}, {asStrategic, `{"$patch":"foo"}`}, {asStrategic, `{"$patch":5}`},
		{asStrategic, `{"metadata":{"finalizers":["x.y/z",5]}}`},
		{asStrategic, `{"metadata":{"finalizers":["x.y/z"],"$setElementOrder/finalizers":["a.b/c"]}}`},
		{asStrategic, `{"metadata":{"$retainKeys":"name"}}`},
		{asJSON, `[]`}, {asJSON, `null`}, {asJSON, `[{"op":"add","path":"/data/c","value":"3"}]`}, {asJSON, `[{"op":"remove","path":"/data/a"}]`}, {asJSON, `[{"op":"replace","path":"/data/z","value":"x"}]`},
		{asJSON, `[{"op":"test","path":"/data/a","value":"1"},{"op":"move","from":"/data/a","path":"/data/z"},{"op":"copy","from":"/data/b","path":"/data/y"}]`},
		{asJSON, `[{"op":"add","path":"/metadata/finalizers/-","value":"x.y/z"},{"op":"add","path":"/metadata/finalizers/0","value":"y.y/z"},{"op":"remove","path":"/metadata/finalizers/-1"}]`},
		{asJSON, ``}, {asJSON, `x`}, {asJSON, `{}`}, {asJSON, `5`}, {asJSON, `"a"`}, {asJSON, `[1]`}, {asJSON, `[null]`}, {asJSON, `[{}]`}, {asJSON, `[{"op":"x","path":"/data"}]`},
		{asJSON, `[{"op":"test","path":"/data/a","value":"2"}]`}, {asJSON, `[{"op":"remove","path":"/data/z"}]`}, {asJSON, `[{"op":"add","path":"/zed/z","value":"x"}]`}, {asJSON, `[{"op":"add","path":5,"value":"x"}]`},
		{asJSON, `[{"op":"add","path":"/data/n","value":5}]`}, {asJSON, `[{"op":"replace","path":"/data","value":[]}]`}, {asJSON, `[{"OP":"add","path":"/data/x","value":"x"}]`}, {asJSON, `[{"op":"move","from":"/data/zz","path":"/data/y"}]`},
		{asJSON, `[{"op":"add","path":"/data/x","value":"x"}] x`}, {asJSON, `[{"op":"add","path":"/metadata/finalizers/9","value":"x.y/z"}]`},
	}},
	{"/apis/apps/v1/namespaces/NAMESPACE/deployments", `{"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[` +
		container("a", `,"ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":81,"protocol":"TCP"}],"env":[{"name":"E","value":"1"}],"args":["1","2"]`) + `,` + container("b", ``) + `],"nodeSelector":{"x":"y"},"tolerations":[{"key":"k","operator":"Exists"}]}}}}`, []change{
		{asStrategic, inContainers(`{"containers":[{"name":"a","image":"j"}]}`)}, {asStrategic, inContainers(`{"containers":[` + container("n", ``) + `]}`)},
		{asStrategic, inContainers(`{"containers":[{"name":"a","$patch":"delete"}]}`)}, {asStrategic, inContainers(`{"containers":[{"$patch":"replace"},` + container("n", ``) + `]}`)},
		{asStrategic, inContainers(`{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"http"}],"env":[{"name":"E","$patch":"delete"},{"name":"F","value":"2"}],"args":["3"]}]}`)},
		{asStrategic, inContainers(`{"$setElementOrder/containers":[{"name":"b"},{"name":"n"},{"name":"a"}],"containers":[` + container("n", ``) + `]}`)}, {asStrategic, inContainers(`{"containers":[{"name":"a","args":null}]}`)},
		{asStrategic, inContainers(`{"tolerations":[{"key":"l","operator":"Exists"}],"nodeSelector":{"x":null,"z":"1"}}`)}, {asStrategic, `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`},
		{asStrategic, `{"spec":{"selector":{"$patch":"replace","matchLabels":{"a":"b"}}}}`}, {asMerge, `{"spec":{"replicas":3,"strategy":{"rollingUpdate":null,"type":"Recreate"}}}`},
		{asJSON, `[{"op":"remove","path":"/spec/template/spec/containers/0/ports/0"},{"op":"replace","path":"/spec/template/spec/containers/1/image","value":"z"}]`},
		{asStrategic, inContainers(`{"containers":[{"image":"x"}]}`)},
		{asStrategic, inContainers(`{"containers":[{"$patch":"delete"}]}`)},
		{asStrategic, inContainers(`{"containers":[{"$patch":"foo","name":"a"}]}`)},
		{asStrategic, inContainers(`{"$setElementOrder/containers":"x"}`)},
		{asStrategic, inContainers(`{"$setElementOrder/containers":[{"foo":"x"}]}`)},
		{asStrategic, inContainers(`{"$setElementOrder/foo":[{"foo":"x"}]}`)},
		{asStrategic, `{"spec":{"strategy":{"$retainKeys":"type","type":"Recreate"}}}`},
		{asStrategic, `{"spec":{"strategy":{"$retainKeys":["x"],"type":"Recreate"}}}`},
		{asStrategic, inContainers(`{"containers":[{"name":"a","resources":{"limits":{"cpu":"x"}}}]}`)}, {asMerge, `{"spec":{"replicas":"x"}}`}, {asJSON, `[{"op":"add","path":"/spec/replicas","value":"x"}]`},
		{asJSON, `[{"op":"add","path":"/spec/template/spec/containers/5","value":{}}]`}, {asJSON, `[{"op":"add","path":"/spec/replicas/x","value":1}]`},
	}},
	{"/api/v1/namespaces/NAMESPACE/services", `{"metadata":{"name":"s"},"spec":{"type":"ExternalName","externalName":"x.example.com","sessionAffinity":"None","ports":[{"name":"a","port":80,"protocol":"TCP","targetPort":80},{"name":"b","port":81,"protocol":"TCP","targetPort":"b"}]}}`, []change{
		{asStrategic, `{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`}, {asStrategic, `{"spec":{"ports":[{"port":82,"name":"c","protocol":"TCP","targetPort":82}]}}`}, {asStrategic, `{"spec":{"ports":[{"port":80,"$patch":"delete"}]}}`},
		{asStrategic, `{"spec":{"$setElementOrder/ports":[{"port":81},{"port":80}]}}`}, {asMerge, `{"spec":{"ports":[{"name":"a","port":80,"protocol":"TCP","targetPort":80}]}}`}, {asStrategic, `{"spec":{"ports":[{"name":"a"}]}}`},
	}},
}
