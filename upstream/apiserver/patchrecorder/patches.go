package main

import "k8s.io/apimachinery/pkg/types"

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
		{asStrategic, `{"$patch":"merge"}`}, {asStrategic, `{"$patch":"foo"}`}, {asStrategic, `{"$patch":5}`}, {asStrategic, `{"metadata":{"finalizers":["x.y/z",5]}}`},
		{asStrategic, `{"metadata":{"finalizers":["x.y/z"],"$setElementOrder/finalizers":["a.b/c"]}}`}, {asStrategic, `{"metadata":{"$retainKeys":"name"}}`},
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
		{asStrategic, inContainers(`{"containers":[{"image":"x"}]}`)}, {asStrategic, inContainers(`{"containers":[{"$patch":"delete"}]}`)},
		{asStrategic, inContainers(`{"containers":[{"$patch":"foo","name":"a"}]}`)}, {asStrategic, inContainers(`{"$setElementOrder/containers":"x"}`)},
		{asStrategic, inContainers(`{"$setElementOrder/containers":[{"foo":"x"}]}`)}, {asStrategic, inContainers(`{"$setElementOrder/foo":[{"foo":"x"}]}`)},
		{asStrategic, `{"spec":{"strategy":{"$retainKeys":"type","type":"Recreate"}}}`}, {asStrategic, `{"spec":{"strategy":{"$retainKeys":["x"],"type":"Recreate"}}}`},
		{asStrategic, inContainers(`{"containers":[{"name":"a","resources":{"limits":{"cpu":"x"}}}]}`)}, {asMerge, `{"spec":{"replicas":"x"}}`}, {asJSON, `[{"op":"add","path":"/spec/replicas","value":"x"}]`},
		{asJSON, `[{"op":"add","path":"/spec/template/spec/containers/5","value":{}}]`}, {asJSON, `[{"op":"add","path":"/spec/replicas/x","value":1}]`},
	}},
	{"/api/v1/namespaces/NAMESPACE/services", `{"metadata":{"name":"s"},"spec":{"type":"ExternalName","externalName":"x.example.com","sessionAffinity":"None","ports":[{"name":"a","port":80,"protocol":"TCP","targetPort":80},{"name":"b","port":81,"protocol":"TCP","targetPort":"b"}]}}`, []change{
		{asStrategic, `{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`}, {asStrategic, `{"spec":{"ports":[{"port":82,"name":"c","protocol":"TCP","targetPort":82}]}}`}, {asStrategic, `{"spec":{"ports":[{"port":80,"$patch":"delete"}]}}`},
		{asStrategic, `{"spec":{"$setElementOrder/ports":[{"port":81},{"port":80}]}}`}, {asMerge, `{"spec":{"ports":[{"name":"a","port":80,"protocol":"TCP","targetPort":80}]}}`}, {asStrategic, `{"spec":{"ports":[{"name":"a"}]}}`},
	}},
}
