package resources

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

func lookup(t testing.TB, group, resource string) *Definition {
	t.Helper()
	d, ok := NewCatalog().Lookup(api.GroupVersionResource{Group: group, Version: "v1", Resource: resource})
	require.True(t, ok, resource)
	return d
}

// validate returns the validation errors of a new object.
func validate(d *Definition, o *api.Unstructured) []string {
	return sentences(d.Strategy.Validate(o))
}

func sentences(errs []apierrors.FieldError) []string {
	var found []string
	for _, err := range errs {
		found = append(found, err.Error())
	}
	return found
}

func TestGraceOfPods(t *testing.T) {
	grace := lookup(t, "", "pods").Strategy.GraceSeconds
	seconds := func(n int64) *int64 { return &n }
	running := `{"spec":{"nodeName":"n","terminationGracePeriodSeconds":7},"status":{"phase":"Running"}}`
	for _, c := range []struct {
		pod   string
		asked *int64
		want  int64
	}{
		{running, nil, 7},
		{running, seconds(3), 3},
		{running, seconds(0), 0},
		{`{"spec":{"nodeName":"n"}}`, nil, 30},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":0}}`, nil, 1},
		{`{"spec":{"terminationGracePeriodSeconds":7}}`, nil, 0},
		{`{"spec":{"nodeName":"n"},"status":{"phase":"Failed"}}`, seconds(9), 0},
		{`{"spec":{"nodeName":"n"},"status":{"phase":"Succeeded"}}`, nil, 0},
	} {
		assert.Equal(t, c.want, grace(parse(t, c.pod), c.asked), "%s", c.pod)
	}
}

func TestPodsThatChange(t *testing.T) {
	d := lookup(t, "", "pods")
	old := parse(t, `{"metadata":{"name":"p"},"spec":{"activeDeadlineSeconds":10,"schedulingGates":[{"name":"a"},{"name":"b"}],
		"containers":[{"name":"c","image":"x"}]}}`)
	step := func(text string) []string {
		o := old.DeepCopy()
		o.Object = mergePatch(o.Object, parse(t, text).Object)
		return sentences(d.Strategy.ValidateUpdate(o, old))
	}
	assert.Empty(t, step(`{"spec":{"schedulingGates":[{"name":"a"}],"activeDeadlineSeconds":5,"containers":[{"name":"c","image":"y"}]}}`))
	assert.Equal(t, []string{"spec: Forbidden: " + podImmutable}, step(`{"spec":{"hostname":"h"}}`))
	assert.Equal(t, []string{"spec: Forbidden: " + podImmutable}, step(`{"spec":{"containers":[{"name":"d","image":"x"}]}}`))
}

func TestQualityOfService(t *testing.T) {
	for text, want := range map[string]string{
		`{"containers":[{"name":"c"}]}`: "BestEffort",
		`{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}]}`:                  "Guaranteed",
		`{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}},{"name":"other"}]}`: "Burstable",
		`{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}`:                                                                     "Burstable",
	} {
		assert.Equal(t, want, qosClass(parse(t, text).Object), text)
	}
}

func TestPodStatusColumn(t *testing.T) {
	for text, want := range map[string][3]string{
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"}}`:                                                                                                                                                                                              {"Terminating", "0/0", "0"},
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running","reason":"NodeLost"}}`:                                                                                                                                                                          {"Unknown", "0/0", "0"},
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Succeeded"}}`:                                                                                                                                                                                            {"Succeeded", "0/0", "0"},
		`{"spec":{"containers":[{},{}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"state":{"terminated":{"reason":"Completed"}}},{"ready":true,"restartCount":2,"state":{"running":{}}}]}}`:                                           {"Running", "1/2", "2"},
		`{"spec":{"containers":[{}],"initContainers":[{"name":"s","restartPolicy":"Always"}]},"status":{"phase":"Running","initContainerStatuses":[{"name":"s","ready":true,"started":true,"restartCount":1}],"containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}}}]}}`: {"Running", "2/2", "3"},
	} {
		o := parse(t, text)
		got := [3]string{podStatus(o, time.Now()).(string), podReady(o, time.Now()).(string), podRestarts(o, time.Now()).(string)}
		assert.Equal(t, want, got, text)
	}
}

func TestMetadataThatMustNotChange(t *testing.T) {
	old := parse(t, `{"metadata":{"name":"a","uid":"u","generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x/a","x/b"]}}`)
	o := parse(t, `{"metadata":{"name":"b","uid":"w","generation":2,"finalizers":["x/a","x/d","x/c","x/c"]}}`)
	d := lookup(t, "", "namespaces")
	step := []string{
		`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/c", "x/d"}`,
		`metadata.generation: Invalid value: 2: must not be decremented`,
		`metadata.name: Invalid value: "b": field is immutable`,
		`metadata.uid: Invalid value: "w": field is immutable`,
		`metadata.deletionTimestamp: Invalid value: null: field is immutable`,
	}
	assert.Equal(t, step, sentences(MetaUpdateValidation(d, o, old)))
	assert.Empty(t, MetaUpdateValidation(d, old, old))
}

func TestMetadataOfNewObjects(t *testing.T) {
	cluster, inNamespace := lookup(t, "", "nodes"), lookup(t, "", "configmaps")
	assert.Equal(t, []string{`metadata.generateName: Invalid value: "AB-": ` + subdomainSentence(t), "metadata.name: Required value: name or generateName is required", "metadata.namespace: Required value", "metadata.generation: Invalid value: -1: must be greater than or equal to 0"},
		sentences(ObjectMetaValidation(inNamespace, parse(t, `{"metadata":{"generateName":"AB-","generation":-1}}`))))
	assert.Equal(t, []string{"metadata.namespace: Forbidden: not allowed on this type"},
		sentences(ObjectMetaValidation(cluster, parse(t, `{"metadata":{"name":"a","namespace":"n"}}`))))
	assert.Empty(t, ObjectMetaValidation(inNamespace, parse(t, `{"metadata":{"name":"a","namespace":"n","generateName":"a-"}}`)))
	large := parse(t, `{"metadata":{"name":"a","annotations":{}}}`)
	require.NoError(t, large.SetNested(strings.Repeat("x", 256<<10), "metadata", "annotations", "k"))
	assert.Equal(t, []string{"metadata.annotations: Too long: may not be more than 262144 bytes"}, sentences(ObjectMetaValidation(cluster, large)))
}

func subdomainSentence(t *testing.T) string {
	t.Helper()
	errs := subdomainName("A", false)
	require.Len(t, errs, 1)
	return errs[0]
}

func TestDefinitionsThatChange(t *testing.T) {
	d := lookup(t, "apiextensions.k8s.io", "customresourcedefinitions")
	old := parse(t, gadgetCRD)
	d.Strategy.Default(old)
	d.Strategy.PrepareCreate(old)
	assert.Equal(t, []string{"v1"}, old.NestedStringSlice("status", "storedVersions"))
	require.Empty(t, d.Strategy.Validate(old))
	require.NoError(t, old.SetNested([]any{tree{"type": "Established", "status": "True"}}, "status", "conditions"))

	o := old.DeepCopy()
	versions, _ := o.Nested("spec", "versions").([]any)
	versions[0].(map[string]any)["storage"], versions[1].(map[string]any)["storage"] = true, false
	d.Strategy.Default(o)
	d.Strategy.PrepareUpdate(o, old)
	assert.Equal(t, []string{"v1", "v1beta1"}, o.NestedStringSlice("status", "storedVersions"), "both may have stored objects")
	assert.EqualValues(t, 2, o.NestedInt64("metadata", "generation"))
	assert.Empty(t, d.Strategy.ValidateUpdate(o, old))

	require.NoError(t, o.SetNested("Cluster", "spec", "scope"))
	require.NoError(t, o.SetNested("Other", "spec", "names", "kind"))
	assert.Equal(t, []string{`spec.scope: Invalid value: "Cluster": field is immutable`, `spec.names.kind: Invalid value: "Other": field is immutable`},
		sentences(d.Strategy.ValidateUpdate(o, old)))
}

func TestClaims(t *testing.T) {
	d := lookup(t, "", "persistentvolumeclaims")
	o := parse(t, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},"spec":{"volumeName":"v"}}`)
	assert.Equal(t, "Terminating", volumeStatus(o, time.Now()))
	assert.Equal(t, "old", d.Columns[5].Cell(o, time.Now()))
	d.Strategy.PrepareCreate(o)
	d.Strategy.PrepareCreate(o)
	assert.Equal(t, []string{FinalizerClaimProtection}, o.GetFinalizers())
}

func TestCellsOfOddObjects(t *testing.T) {
	now := time.Now()
	cell := func(group, resource string, column int, text string) any {
		return lookup(t, group, resource).Columns[column].Cell(parse(t, text), now)
	}
	assert.Equal(t, "a", cell("", "pods", 5, `{"status":{"podIP":"a"}}`))
	assert.Equal(t, "<none>", cell("apps", "deployments", 7, `{}`))
	assert.Equal(t, "<error>", cell("apps", "deployments", 7, `{"spec":{"selector":{"matchExpressions":[{}]}}}`))
	assert.Equal(t, "Ready", cell("", "nodes", 1, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`))
	assert.Equal(t, "NotReady,SchedulingDisabled", cell("", "nodes", 1, `{"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`))
	assert.Equal(t, "5", cell("", "nodes", 8, `{"status":{"nodeInfo":{"kernelVersion":"5"}}}`))
	assert.Equal(t, "Local", cell("apiregistration.k8s.io", "apiservices", 1, `{}`))
	assert.Equal(t, "True", cell("apiregistration.k8s.io", "apiservices", 2, `{"status":{"conditions":[{"type":"Available","status":"True"}]}}`))
	assert.Equal(t, "Unknown", cell("apiregistration.k8s.io", "apiservices", 2, `{}`))
	assert.Equal(t, "<pending>", cell("", "services", 3, `{"spec":{"type":"LoadBalancer"}}`))
	assert.Equal(t, "a,b", cell("", "services", 3, `{"spec":{"type":"LoadBalancer","externalIPs":["b"]},"status":{"loadBalancer":{"ingress":[{"ip":"a"}]}}}`))
	assert.Equal(t, "g/v1/P", cell("admissionregistration.k8s.io", "validatingadmissionpolicies", 2, `{"spec":{"paramKind":{"apiVersion":"g/v1","kind":"P"}}}`))
	assert.Equal(t, "p", cell("admissionregistration.k8s.io", "validatingadmissionpolicybindings", 2, `{"spec":{"paramRef":{"name":"p","namespace":"n"}}}`))
	assert.Equal(t, "pod", cell("", "events", 3, `{"involvedObject":{"kind":"Pod"}}`))
	assert.Equal(t, "pods: 0/3", cell("", "resourcequotas", 1, `{"status":{"hard":{"pods":"3"}}}`))
}

func TestAllocation(t *testing.T) {
	a := newAllocator()
	seen := map[string]bool{}
	for range 5000 {
		address := a.address()
		assert.False(t, seen[address], "%s twice", address)
		assert.True(t, strings.HasPrefix(address, "10."), address)
		seen[address] = true
	}
	ports := map[int64]bool{}
	for range portCount {
		ports[a.port()] = true
	}
	assert.Len(t, ports, portCount, "every port is used once before any repeats")

	d := lookup(t, "", "services")
	o := parse(t, `{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80}]}}`)
	d.Strategy.Default(o)
	d.Strategy.PrepareCreate(o)
	assert.NotZero(t, o.NestedInt64("spec", "healthCheckNodePort"))
	again := parse(t, `{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80},{"port":81}]}}`)
	d.Strategy.Default(again)
	d.Strategy.PrepareUpdate(again, o)
	assert.Equal(t, o.NestedString("spec", "clusterIP"), again.NestedString("spec", "clusterIP"))
	before, after := items(child(o.Object, "spec"), "ports"), items(child(again.Object, "spec"), "ports")
	assert.Equal(t, before[0]["nodePort"], after[0]["nodePort"], "the same port keeps its node port")
	assert.NotZero(t, after[1]["nodePort"])
	chosen := parse(t, `{"spec":{"clusterIPs":["10.96.7.7"],"type":"NodePort","ports":[{"port":80,"nodePort":7}]}}`)
	d.Strategy.Default(chosen)
	d.Strategy.PrepareCreate(chosen)
	assert.Equal(t, "10.96.7.7", chosen.NestedString("spec", "clusterIP"))
}

func TestTaintsOfNewNodes(t *testing.T) {
	d := lookup(t, "", "nodes")
	o := parse(t, `{"spec":{"podCIDRs":["10.0.0.0/24"],"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}]}}`)
	d.Strategy.Default(o)
	d.Strategy.PrepareCreate(o)
	assert.Len(t, o.Nested("spec", "taints"), 1)
	assert.Equal(t, "10.0.0.0/24", o.NestedString("spec", "podCIDR"))
	assert.Equal(t, "true", d.FieldsOf(parse(t, `{"spec":{"unschedulable":true}}`))["spec.unschedulable"])
}
