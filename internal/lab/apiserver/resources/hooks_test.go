package resources

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func lookup(t testing.TB, group, resource string) *Definition {
	t.Helper()
	d, ok := NewCatalog().Lookup(api.GroupVersionResource{Group: group, Version: "v1", Resource: resource})
	require.True(t, ok, resource)
	return d
}

func TestAllocation(t *testing.T) {
	a := &allocator{}
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
	o := parse(t, `{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`)
	d.Strategy.Default(o)
	d.Strategy.PrepareCreate(o)
	again := parse(t, `{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","ports":[{"port":80},{"port":81}]}}`)
	d.Strategy.Default(again)
	d.Strategy.PrepareUpdate(again, o)
	assert.Equal(t, o.NestedString("spec", "clusterIP"), again.NestedString("spec", "clusterIP"))
	assert.NotZero(t, items(child(again.Object, "spec"), "ports")[1]["nodePort"])
	chosen := parse(t, `{"spec":{"clusterIPs":["10.96.7.7"],"type":"NodePort","ports":[{"port":80,"nodePort":7}]}}`)
	d.Strategy.Default(chosen)
	d.Strategy.PrepareCreate(chosen)
	assert.Equal(t, "10.96.7.7", chosen.NestedString("spec", "clusterIP"))
}

func TestPodStatusColumn(t *testing.T) {
	for text, want := range map[string][3]string{
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"}}`:                                                                                                                                                    {"Terminating", "0/0", "0"},
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running","reason":"NodeLost"}}`:                                                                                                                                {"Unknown", "0/0", "0"},
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Succeeded"}}`:                                                                                                                                                  {"Succeeded", "0/0", "0"},
		`{"spec":{"containers":[{},{}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"state":{"terminated":{"reason":"Completed"}}},{"ready":true,"restartCount":2,"state":{"running":{}}}]}}`: {"Running", "1/2", "2"},
	} {
		o := parse(t, text)
		got := [3]string{podStatus(o, time.Now()).(string), podReady(o, time.Now()).(string),
			podRestarts(o, time.Now()).(string)}
		assert.Equal(t, want, got, text)
	}
}

func TestAClaimThatIsBeingDeletedIsTerminating(t *testing.T) {
	for _, resource := range []string{"persistentvolumeclaims", "persistentvolumes"} {
		d := lookup(t, "", resource)
		at := slices.IndexFunc(d.Columns, func(c Column) bool { return c.Name == "Status" })
		o := parse(t, `{"metadata":{"name":"c"},"status":{"phase":"Bound"}}`)
		assert.Equal(t, "Bound", d.Columns[at].Cell(o, time.Now()))
		o = parse(t, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Bound"}}`)
		assert.Equal(t, "Terminating", d.Columns[at].Cell(o, time.Now()))
	}
}

// A rollout records its cause in an annotation of the Deployment, which counts.
func TestAnnotationsCountAsAGenerationOfDeploymentsOnly(t *testing.T) {
	for resource, want := range map[string]int64{"deployments": 2, "replicasets": 1, "daemonsets": 1} {
		d := lookup(t, "apps", resource)
		old := parse(t, `{"metadata":{"name":"a","generation":1},"spec":{"replicas":1}}`)
		o := parse(t, `{"metadata":{"name":"a","annotations":{"k":"v"}},"spec":{"replicas":1}}`)
		d.Strategy.PrepareUpdate(o, old)
		assert.Equal(t, want, o.Nested("metadata", "generation"), resource)
	}
}

// kube-apiserver calls the number of a Job's pods that succeeded "status.successful".
func TestJobsAreSelectedByTheirSuccesses(t *testing.T) {
	jobs := lookup(t, "batch", "jobs")
	for status, want := range map[string]string{`{"succeeded":3}`: "3", `{}`: "0"} {
		fields := jobs.FieldsOf(parse(t, `{"metadata":{"name":"a"},"status":`+status+`}`))
		assert.Equal(t, want, fields[jobs.Selectable["status.successful"]], status)
	}
}

// The subjects of bindings have a group by default, those of FlowSchemas have no such field.
func TestGroupsOfSubjects(t *testing.T) {
	binding := parse(t, `{"metadata":{"name":"b"},"subjects":[{"kind":"User","name":"eve"}]}`)
	lookup(t, "rbac.authorization.k8s.io", "rolebindings").Strategy.Default(binding)
	assert.Equal(t, "rbac.authorization.k8s.io", items(binding.Object, "subjects")[0]["apiGroup"])
	flow := parse(t, `{"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"eve"}}]}]}}`)
	lookup(t, "flowcontrol.apiserver.k8s.io", "flowschemas").Strategy.Default(flow)
	rule := items(child(flow.Object, "spec"), "rules")[0]
	assert.NotContains(t, items(rule, "subjects")[0], "apiGroup")
}

// Names of the right characters have a limit; the recorded conversations have the other messages.
func TestLongNames(t *testing.T) {
	label := strings.Repeat("a", 63)
	assert.Empty(t, dnsLabel(label))
	assert.Equal(t, []string{"must be no more than 63 characters"}, dnsLabel(label+"a"))
	assert.Empty(t, dnsSubdomain(strings.Repeat(label+".", 3)+label[:61]))
	assert.Equal(t, []string{"must be no more than 253 characters"}, dnsSubdomain(strings.Repeat(label+".", 3)+label))
	assert.Equal(t, []string{"must be no more than 63 bytes"}, labelValue(label+"a"))
	assert.Equal(t, []string{"name part must be no more than 63 bytes"}, qualifiedName("example.com/"+label+"a"))
	assert.Equal(t, []string{"may not be '..'"}, pathSegment(".."))
}
